import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CatalogueReader,
  type ContextTool,
  createContextTools,
  JobRunner,
  type JobKind,
  jobKind,
  Metrics,
  MetricsReader,
  openContext,
} from "@tandem/context";
import { defaultSection } from "@tandem/protocol";
import { openStore } from "@tandem/storage";
import { z } from "zod";
import type { ServedContext } from "../served-context.ts";

const FILES = {
  "catalogue/shop/main.customers.yaml": `connection: shop
schema: main
table: customers
type: table
descriptions:
  human: People who have bought something.
rows: 120
primaryKey: [id]
columns:
  - { name: id, type: INTEGER }
  - name: city
    type: TEXT
    profile: { samples: [Bern, Zürich] }
`,
  "catalogue/shop/main.orders.yaml": `connection: shop
schema: main
table: orders
type: table
columns:
  - { name: id, type: INTEGER }
  - { name: customer_id, type: INTEGER }
joins:
  - { columns: [customer_id], to: main.customers, toColumns: [id], cardinality: many-to-one, origin: declared, confidence: 1 }
`,
  "catalogue/shop/main.parcels.yaml": `connection: shop
schema: main
table: parcels
type: table
columns:
  - { name: order_id, type: INTEGER }
joins:
  - { columns: [order_id], to: main.orders, toColumns: [id], cardinality: many-to-one, origin: data, confidence: 0.93 }
`,
  "wiki/refunds.md": "---\nsummary: When money goes back.\n---\n\n# Refunds\n\nWithin 30 days of delivery.\n",
} as const;

export interface MadeUpContext extends ServedContext, AsyncDisposable {
  jobRunner: JobRunner;
}

/** A small shop: a real folder and a real store, and a database that answers every query with 42. */
export async function makeUpContext(
  extra: { kinds?: Record<string, JobKind>; tools?: readonly ContextTool[]; now?: () => Date } = {},
): Promise<MadeUpContext> {
  const home = await mkdtemp(join(tmpdir(), "tandem-served-"));
  const store = await openStore(join(home, "tandem.db"));
  const { accept } = defaultSection("context");
  const context = await openContext({
    path: join(home, "context"),
    git: "own",
    accept,
    store,
    ...(extra.now && { now: extra.now }),
  });
  await context.folder.commit(
    Object.entries(FILES).map(([path, content]) => ({ path, content, expected: null })),
    { subject: "A shop" },
  );
  const jobRunner = new JobRunner({
    store,
    space: context.id,
    holder: "a test",
    kinds: { count, wait, ...extra.kinds },
    models: { llm: undefined, modelOf: () => "none" },
    log: { warn: () => undefined },
  });
  const catalogue = new CatalogueReader(context.folder);
  const dialects = new Map([["shop", "sqlite" as const]]);
  const reader = new MetricsReader(context.folder, () => dialects);
  const metrics = new Metrics({ folder: context.folder, catalogue, reader, open: async () => fortyTwo });
  const tools = createContextTools({
    folder: context.folder,
    search: context.search,
    catalogue,
    metrics,
    connections: { dialects, open: async () => fortyTwo },
    work: {
      ingest: ({ source }) => jobRunner.start("count", { to: source === undefined ? 1 : 2 }),
      job: (id) => store.jobs.get(id),
    },
  });
  return {
    context,
    catalogue,
    metrics,
    tools: [...tools, ...(extra.tools ?? [])],
    jobs: store.jobs,
    jobRunner,
    plan: async (kind) => ({ requests: kind === "scan" ? 2 : 5, usd: 0.01, has_model: true, reads: {}, skipped: [] }),
    connections: [{ name: "shop", driver: "sqlite" }],
    sources: [{ name: "handbook", type: "folder" }],
    async [Symbol.asyncDispose]() {
      await jobRunner[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    },
  };
}

const count = jobKind(z.strictObject({ to: z.int().min(1) }), async (run, { to }) => {
  for (let done = 1; done <= to; done += 1) {
    run.emit({ type: "stage_finished", stage: `step ${done}`, counts: { steps: done } });
  }
  return { counted: to };
});

/** Runs until it is cancelled or interrupted. */
const wait = jobKind(z.strictObject({}), async (run) => {
  await new Promise((_, reject) => run.signal.addEventListener("abort", () => reject(run.signal.reason)));
});

type Connect = Parameters<typeof createContextTools>[0]["connections"]["open"];

const fortyTwo: Awaited<ReturnType<Connect>> = {
  dialect: "sqlite",
  structure: async () => [],
  query: async () => ({ columns: ["answer"], rows: [[42]], truncated: false }),
  estimate: async () => ({ rows: 1, plan: "SCAN everything" }),
  quote: (identifier) => `"${identifier}"`,
  [Symbol.asyncDispose]: async () => undefined,
};
