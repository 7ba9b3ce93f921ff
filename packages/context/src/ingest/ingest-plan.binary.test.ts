import { defaultSection } from "@tandem/protocol";
import { always, type ModelRequest, reply, text, toolUse, when } from "@tandem/rehearsal";
import { expect, it } from "vitest";
import { MemoryRun } from "../scan/testing/memory-run.ts";
import { RehearsedBackend } from "../scan/testing/rehearsed-backend.ts";
import { aCandidate, giveCandidates, giveLanes, isExtraction, isTriage } from "./extract/testing/extract-answers.ts";
import { isCurator, isReconciler, isUnit, taskOf, use, verify, writePage } from "./testing/agent-requests.ts";
import { openTestIngest } from "./testing/open-test-ingest.ts";
import { planIngest } from "./ingest-plan.ts";
import { makeFiles } from "../sources/testing/make-files.ts";
import { openTestContext } from "../sources/testing/open-test-context.ts";
import { putProvenance } from "../sources/provenance.ts";

const ingest = defaultSection("ingest");

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
  // Two for lanes, and two for the pages expected to be light.
  expect(triage).toMatchObject({ model: "haiku", requests: 4 });
  expect(plan.requests.map(({ role }) => role)).toEqual(["triage", "candidateExtraction", "curator", "reconcile"]);
  for (const { usd } of plan.requests) expect(usd).toBeGreaterThan(0);
  expect(plan.usd).toBeCloseTo(plan.requests.reduce((sum, { usd }) => sum + usd!, 0));
  expect(await store.records.list(store.space, "document", { limit: 1 })).toEqual([]);
  expect(await store.blobs.prune(store.space, new Set())).toBe(0);

  const unknown = await planIngest(store, [files.source()], { ingest, modelOf: () => "some-model-1" });
  expect(unknown.usd).toBeNull();
});

it("estimates the requests that a run makes, at half a request per document for many small ones", async () => {
  const pathOf = (index: number) => `area-${index % 4}/page-${index}.md`;
  const count = 80;
  const documents = Array.from({ length: count }, (_, index) => [
    pathOf(index),
    `# Page ${index}\n\n${"Words. ".repeat(150)}${index}.\n`,
  ]);
  await using context = await openTestIngest(Object.fromEntries(documents));
  const plan = await planIngest(context.space, [context.source()], { ingest, modelOf: () => "haiku" });

  await using backend = await RehearsedBackend.open("anthropic");
  const steps = (count: number) => Array.from({ length: Math.round(count) - 1 }, () => use("wiki_list_tags"));
  const turnsOf = (request: ModelRequest): number => {
    if (isUnit(request)) return 6 + 0.6 * [...taskOf(request).matchAll(/^The document "/gm)].length;
    if (isCurator(request)) return 4 + 0.3 * [...taskOf(request).matchAll(/<candidate-\w+ id=/g)].length;
    return 6;
  };
  /** One candidate per document, in one step. */
  const noteDocuments = (request: ModelRequest) =>
    reply(
      [...taskOf(request).matchAll(/^The document "docs\/(\S+)\.md"/gm)].map(([, path]) => {
        const assertion = `${path} is closely read.`;
        const given = aCandidate([`docs/${path}#top`], { key: path!.replaceAll("/", "-"), assertion });
        return toolUse(
          request.toolNames.find((name) => name.endsWith("candidate_write"))!,
          given,
        );
      }),
    );
  const acting = always(
    when(
      (request) => isUnit(request) || isCurator(request) || isReconciler(request),
      (request) => {
        const turn = request.messages.filter(({ role }) => role === "assistant").length;
        const [citation] = /docs\/area-\d\/page-\d+#top/.exec(taskOf(request)) ?? ["docs/area-0/page-0#top"];
        const page = `p-${citation.replaceAll(/\D+/g, "-")}`;
        const writing = isUnit(request) ? [verify, writePage(page, `Words. [^${citation}]`), noteDocuments] : [];
        const turns = [...writing, ...steps(turnsOf(request) - writing.length)];
        return turns[turn]?.(request) ?? text("Done.");
      },
    ),
  );
  const lanes = giveLanes((path) => {
    const share = (Number(/\d+(?=\.md)/.exec(path)![0]) * 7) % 10;
    return { lane: share < 4 ? "light" : share < 7 ? "full" : "skip" };
  });
  const candidates = giveCandidates((citations) => ({
    candidates: [0, 1, ...(citations[0]!.length % 2 === 0 ? [2] : [])].map((at) =>
      aCandidate(citations.slice(0, 1), { key: `k-${at}`, assertion: `Statement ${at} of ${citations[0]}.` }),
    ),
    suspicious: null,
  }));
  const run = new MemoryRun(backend.play([lanes, candidates, acting]));
  const report = await context.ingest(run);
  expect(report.documents).toMatchObject({ light: 32, full: 24, failed: 0 });
  const asked = backend.rehearsal.modelRequests;
  const estimated = plan.requests.reduce((sum, { requests }) => sum + requests, 0);
  expect(plan.requests.find(({ role }) => role === "triage")!.requests).toBe(
    asked.filter((request) => isTriage(request) || isExtraction(request)).length,
  );
  expect(Math.abs(estimated - asked.length) / asked.length).toBeLessThan(0.15);

  const before = asked.length;
  await context.ingest(new MemoryRun(run.llm, { steps: run.steps }));
  expect(asked.length).toBe(before);

  const many = Array.from({ length: 1_500 }, (_, index) => [`d-${index % 20}/${index}.md`, `# ${index}\n\nWords.\n`]);
  await using large = await makeFiles(Object.fromEntries(many));
  const { requests } = await planIngest(context.space, [large.source({}, { name: "many" })], {
    ingest,
    modelOf: () => "haiku",
  });
  expect(requests.reduce((sum, each) => sum + each.requests, 0)).toBeLessThanOrEqual(0.5 * many.length);
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
