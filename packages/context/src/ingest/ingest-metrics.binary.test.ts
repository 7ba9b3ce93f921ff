import type { ModelRequest } from "@tandem/rehearsal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type MetricStage, openMetricStage, SHOP_FILES } from "../metrics/testing/metric-stage.ts";
import { MemoryRun } from "../scan/testing/memory-run.ts";
import { RehearsedBackend } from "../scan/testing/rehearsed-backend.ts";
import { tableTool } from "../tools/table-tool.ts";
import { giveLanes } from "./extract/testing/extract-answers.ts";
import { agent, isReconciler, isUnit, use, verify } from "./testing/agent-requests.ts";
import { openTestIngest, type TestIngest } from "./testing/open-test-ingest.ts";

const DOCUMENT = "# Figures\n\nThe largest order is the highest amount of an order.\n";
const PATH = "metrics/shop/order.yaml";
const CURRENT = SHOP_FILES[PATH]!;

let backend: RehearsedBackend;
let stage: MetricStage;
let context: TestIngest;
beforeAll(async () => {
  backend = await RehearsedBackend.open("anthropic");
  stage = await openMetricStage();
  context = await openTestIngest({ "figures.md": DOCUMENT }, { accept: { wiki: "always" }, folder: stage.folder });
});
afterAll(async () => {
  await context[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
  await backend[Symbol.asyncDispose]();
});

const draft = (measure: string) =>
  use("metric_draft", {
    connection: "shop",
    entity: "order",
    text: CURRENT.replace(
      "metrics:\n",
      `  largest: { max: ${measure} }\nmetrics:\n  largest_order: { measure: largest }\n`,
    ),
    citations: ["docs/figures#top"],
  });

test("an agent drafts a metric from a document; a wrong one is refused, and a person decides", async () => {
  const run = new MemoryRun(
    backend.play([
      giveLanes(() => ({ lane: "full" })),
      agent(isUnit, draft("cents"), verify, draft("cents"), draft("amount"), draft("cents")),
      agent(isReconciler),
    ]),
    { steps: new Map() },
  );
  const report = await context.ingest(run, {}, [tableTool(stage.catalogue)], stage.metrics);
  const isMine = (request: ModelRequest) => isUnit(request);
  const results = backend.rehearsal.modelRequests.filter(isMine).flatMap(({ toolResults }) => toolResults);
  const texts = results.map(({ text }) => text);
  expect(texts[0]).toContain("verification_required");
  expect(texts[2]).toContain("The file exists; nothing was kept.");
  expect(texts[3]).toContain("main.orders has no column amount.");
  expect(texts[4]).toContain(`${PATH} is drafted. A person decides about it.`);
  expect(report).toMatchObject({ metrics: 1, proposals: [{ accepted: 0, open: 2 }] });
  const [change] = (await context.proposals.get(report.proposals[0]!.id))!.changes;
  expect(change).toMatchObject({ path: PATH, hunks: [{ aspect: "metric" }, { aspect: "metric" }] });
  expect(change!.evidence).toMatchObject([{ type: "source", citation: "docs/figures#top" }, { type: "model" }]);
  expect(await stage.folder.read(PATH)).toBe(CURRENT);
});
