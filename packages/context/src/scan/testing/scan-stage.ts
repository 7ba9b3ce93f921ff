import { type Connection, openConnection } from "@tandem/connectors";
import { type Config, configSchema, type JobId, type ScanResult } from "@tandem/protocol";
import type { Script } from "@tandem/rehearsal";
import type { JobRow, Store } from "@tandem/storage";
import { git } from "@tandem/workspace";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseTableFile, type TableFile } from "../../catalogue/table-file.ts";
import { openContextFolder } from "../../folder/open-context-folder.ts";
import { createProposals } from "../../proposals/create-proposals.ts";
import { openScratch } from "../../testing/open-scratch.ts";
import { runOneJob } from "../../testing/run-one-job.ts";
import { runEvent, type RunEvent } from "../../runs/job-run.ts";
import { ContextSearch } from "../../search/context-search.ts";
import { scan } from "../scan.ts";
import type { ScanContext } from "../scan-context.ts";
import type { RehearsedBackend } from "./rehearsed-backend.ts";

export interface ScanOutcome {
  state: JobRow["state"];
  error: JobRow["error"];
  result: ScanResult;
  events: RunEvent[];
  skipped: { stage: string; item: string; code: string }[];
  /** Model requests of this scan. */
  requests: number;
}

interface ScanSettings {
  script?: Script;
  scan?: Partial<Config["scan"]>;
  llm?: object;
  signal?: AbortSignal;
  connection?: (connection: Connection) => Connection;
}

export type ScanStage = Awaited<ReturnType<typeof openScanStage>>;

/**
 * A real database, context and store, for scans. Without a backend: a project without a model. Without `shared`, the stage
 * has its own store.
 */
export async function openScanStage(sql: string, backend?: RehearsedBackend, accept: object = {}, shared?: Store) {
  await using parts = new AsyncDisposableStack();
  const { home, store } = await openScratch(parts, shared);
  const database = parts.adopt(new DatabaseSync(join(home, "shop.sqlite")), (opened) => opened.close());
  database.exec(sql);
  const folder = await openContextFolder({ path: join(home, "context"), git: "own", scratch: join(home, "scratch") });
  const rules = configSchema.parse({ context: { accept } }).context.accept;
  const proposals = createProposals({ folder, store, space: folder.id, accept: rules });
  const search = new ContextSearch({ folder, store });
  const context: ScanContext = { folder, proposals, search };
  const path = (table: string): string => `catalogue/shop/main.${table}.yaml`;
  let connection: Connection | undefined;
  const owned = parts.move();
  return {
    context,
    search,
    database,
    path,
    scan: async ({
      script = [],
      scan: settings = {},
      llm = {},
      signal,
      connection: change = (opened) => opened,
    }: ScanSettings = {}): Promise<ScanOutcome> => {
      backend?.play(script, llm);
      // One for all scans of the stage: its reader processes are dear to start.
      connection ??= owned.use(await openConnection({ driver: "sqlite", path: join(home, "shop.sqlite") }));
      const input = {
        context,
        connectionName: "shop",
        connection: change(connection),
        config: { ...configSchema.parse({}).scan, ...settings },
      };
      let id: JobId | undefined;
      const row = await runOneJob({
        store,
        space: folder.id,
        kind: "scan",
        params: { connection: "shop" },
        holder: "a test",
        llm: backend?.source,
        modelOf: () => backend?.model ?? "none",
        signal,
        onStart: (job) => void (id = job),
        body: (run) => scan(run, input),
      });
      const log = await store.jobs.events(id!, { after: 0, limit: 10_000 });
      const events = log.map(({ event }) => runEvent.parse(event));
      return {
        state: row.state,
        error: row.error,
        result: row.result as ScanResult,
        events,
        skipped: events.flatMap((event) =>
          event.type === "skipped" ? [{ stage: event.stage, item: event.item, code: event.code }] : [],
        ),
        requests: backend?.rehearsal.modelRequests.length ?? 0,
      };
    },
    /** Everything that the stage keeps on disk: files, git objects and the store, without the scanned database. */
    storedText: async (): Promise<string> => {
      const objects = await git(folder.path, ["cat-file", "--batch", "--batch-all-objects"]);
      const names = await readdir(home, { recursive: true });
      const files = names.filter((name) => !name.startsWith("shop.sqlite") && !name.includes(".git/"));
      const texts = files.map((name) => readFile(join(home, name), "utf8").catch(() => ""));
      return [objects, ...(await Promise.all(texts))].join("\n");
    },
    /** Undefined if the catalogue lacks the table. */
    file: async (table: string): Promise<TableFile | undefined> => {
      const text = await folder.read(path(table));
      if (text === undefined) return undefined;
      const parsed = parseTableFile(text);
      if (!parsed.success) throw new Error(JSON.stringify(parsed.problems));
      return parsed.table;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
