import { defaultConfig } from "@tandem/protocol";
import { expect, it } from "vitest";
import { planIngest } from "./ingest-plan.ts";
import { makeFiles } from "./sources/testing/make-files.ts";
import { openTestContext } from "./sources/testing/open-test-context.ts";
import { putProvenance } from "./sources/provenance.ts";

const { ingest } = defaultConfig();

it("reports documents, requests and cost, and stores nothing", async () => {
  const pages = Array.from({ length: 30 }, (_, index) => [`p-${index}.md`, `# P\n\n${"Words. ".repeat(100)}${index}`]);
  await using files = await makeFiles({
    ...Object.fromEntries(pages),
    "broken.pdf": "no",
    "known.md": "x",
    "logo.png": "x",
  });
  await using store = await openTestContext();
  await store.records.write(store.space, [
    putProvenance({
      source: "docs",
      path: "known.md",
      citation: "docs/known",
      sha256: "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
      lane: "skip",
      artifacts: [],
      job: "job_1",
      at: "2026-01-01T00:00:00Z",
    }),
  ]);
  const plan = await planIngest(store, [files.source()], {
    ingest,
    modelOf: (role) => (role === "triage" ? "haiku" : "claude-sonnet-5-5"),
  });
  expect(plan.sources).toEqual([
    { name: "docs", type: "folder", added: 31, changed: 0, unchanged: 1, renamed: 0, deleted: 0, ignored: 1 },
  ]);
  expect(plan).toMatchObject({ documents: 30, skipped: [{ item: "docs/broken.pdf", code: "broken" }] });
  expect(plan.characters).toBeGreaterThan(30 * 700);
  const triage = plan.requests.find(({ role }) => role === "triage");
  // Three for lanes, and one for each of the twelve pages expected to be light.
  expect(triage).toMatchObject({ model: "haiku", requests: 15 });
  expect(plan.requests.map(({ role }) => role)).toEqual(["triage", "candidateExtraction", "curator", "reconcile"]);
  for (const { usd } of plan.requests) expect(usd).toBeGreaterThan(0);
  expect(plan.usd).toBeCloseTo(plan.requests.reduce((sum, { usd }) => sum + usd!, 0));
  expect(await store.records.list(store.space, "document", { limit: 1 })).toEqual([]);
  expect(await store.blobs.prune(store.space, new Set())).toBe(0);

  const unknown = await planIngest(store, [files.source()], { ingest, modelOf: () => "some-model-1" });
  expect(unknown.usd).toBeNull();
});

it("plans nothing without changes or documents", async () => {
  await using files = await makeFiles({ "logo.png": "x" });
  await using store = await openTestContext();
  const sources = [files.source(), files.source({ path: "nowhere" }, { name: "gone" })];
  const plan = await planIngest(store, sources, { ingest, modelOf: () => "haiku" });
  expect(plan).toMatchObject({
    documents: 0,
    requests: [],
    usd: 0,
    skipped: [{ item: "gone", code: "source_missing" }],
  });
});
