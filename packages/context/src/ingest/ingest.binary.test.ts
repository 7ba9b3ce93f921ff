import { always, type ModelRequest, refusal, text, unauthorized, when } from "@tandem/rehearsal";
import { describe, expect, test } from "vitest";
import { MemoryRun } from "../scan/testing/memory-run.ts";
import { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import { tableTool } from "../tools/table-tool.ts";
import { listCandidates } from "./extract/candidates.ts";
import { aCandidate, giveCandidates, giveLanes } from "./extract/testing/extract-answers.ts";
import {
  agent,
  fileRead,
  isCurator,
  isRepair,
  isUnit,
  PAGE,
  reads,
  taskOf,
  use,
  verify,
  writePage,
} from "./testing/agent-requests.ts";
import { allFull, quietReconciler, ingestSuite } from "./testing/ingest-suite.ts";

const { backend, openIngest, asked, start } = await ingestSuite();

describe("work units", () => {
  const docs = { "a/rules.md": "# Rules\n\nOrders ship on Mondays.\n", "b/rules.md": "# Rules\n\nForbidden words.\n" };

  test("a failing unit fails alone, reports why, and is retried", async () => {
    await using context = await openIngest(docs);
    const page = writePage("shipping", "Orders ship on Mondays. [^docs/a/rules#top]");
    const run = start([
      allFull,
      always(when(reads("b/rules.md"), refusal("No."))),
      agent(reads("a/rules.md"), verify, page),
      quietReconciler,
    ]);
    const report = await context.ingest(run);
    expect(report.units).toMatchObject({ done: 1, failed: [{ unit: "docs/b/rules.md" }] });
    expect(run.skipped).toMatchObject([{ stage: "units", item: "docs/b/rules.md", code: "refused" }]);
    expect(report.proposals).toMatchObject([{ open: 1 }]);

    const again = start([agent(reads("b/rules.md"))], run.steps);
    expect((await context.ingest(again)).units).toMatchObject({ done: 1, failed: [] });
    expect(backend.rehearsal.modelRequests).toHaveLength(1);
  });

  test("a rejected credential stops all units, listed once", async () => {
    await using context = await openIngest(docs);
    const run = start([allFull, always(when(isUnit, unauthorized()))]);
    const report = await context.ingest(run, { workUnits: { concurrency: 1 } });
    expect(report.proposals).toEqual([]);
    expect(run.skipped).toMatchObject([{ stage: "units", code: "auth_rejected" }]);
    expect(asked(isUnit).length).toBeLessThanOrEqual(2);
  });

  test("a step budget keeps the work done, and is not an error", async () => {
    await using context = await openIngest({ "a.md": docs["a/rules.md"] });
    const page = writePage("shipping", "Orders ship on Mondays. [^docs/a#top]");
    const run = start([
      allFull,
      agent(isUnit, verify, page, use("wiki_list_tags"), use("wiki_list_tags")),
      quietReconciler,
    ]);
    const report = await context.ingest(run, { workUnits: { stepBudget: 3 } });
    expect(report).toMatchObject({
      units: { done: 0, budget: 1, failed: [] },
      pages: { added: 1 },
      proposals: [{ open: 1 }],
    });
    expect(run.skipped).toEqual([]);
    expect(run.events).toContainEqual(expect.objectContaining({ type: "unit_finished", outcome: "budget" }));
  });

  test("rejects missing or wrong citations and dead refs, with suggestions", async () => {
    await using context = await openIngest({ "a.md": "# A\n\n## Policy\n\nThirty days.\n" });
    await context.writePage("old", PAGE("docs/x#top", "Old words."));
    const run = start([
      allFull,
      agent(
        isUnit,
        verify,
        writePage("p", "Thirty days. [^docs/a#polcy]"),
        writePage("p", "Thirty days. [^docs/a#policy]\n\nAnd other things."),
        writePage("p", "Thirty days. [^docs/a#policy]", { refs: ["page:olt"] }),
        writePage("old", "New words. [^docs/a#policy]"),
        use("read_source", { source: "b.md" }),
        use("load_skill", { name: "writing-page" }),
        use("load_skill", { name: "writing-pages" }),
      ),
    ]);
    const report = await context.ingest(run);
    const results = asked(isUnit).flatMap(({ toolResults }) => toolResults.map((result) => result.text));
    expect(results[1]).toContain("There is no passage docs/a#polcy. docs/a has: docs/a#policy.");
    expect(results[2]).toContain('rests on nothing: "And other things."');
    expect(results[3]).toContain("There is no page olt. Did you mean page:old?");
    expect(results[4]).toContain("Read it with wiki_read");
    expect(results[5]).toContain(`"b.md" is not one of your documents.`);
    expect(results[6]).toContain("There is no skill writing-page.");
    expect(results[7]).toContain("# Writing pages");
    expect(report.proposals).toEqual([]);
    // The unit has not done all that it tried: the job ends as `partly`, and lists the calls.
    const calls = [
      { tool: "wiki_write", target: "p", message: expect.stringContaining("There is no page olt.") },
      { tool: "wiki_write", target: "old", message: expect.stringContaining("Read it with wiki_read") },
      { tool: "read_source", target: "b.md" },
      { tool: "load_skill", target: "writing-page" },
    ];
    expect(report.units).toMatchObject({ done: 0, partly: [{ unit: "docs/a.md", calls }], failed: [] });
    expect(run.skipped).toMatchObject(
      calls.map(({ tool }) => ({
        stage: "units",
        item: "docs/a.md",
        code: "tool_failed",
        message: expect.stringContaining(tool),
      })),
    );
    expect(run.events).toContainEqual(expect.objectContaining({ type: "unit_finished", outcome: "partly" }));
  });

  test("with a catalogue, agents may read it, and pages may refer to its tables only", async () => {
    await using context = await openIngest({ "a.md": "# A\n\nThirty days.\n" });
    const table = "connection: shop\nschema: main\ntable: orders\ntype: table\ncolumns:\n  - name: id\n    type: int\n";
    await context.folder.commit([{ path: "catalogue/shop/main.orders.yaml", expected: null, content: table }], {
      subject: "Scan",
    });
    const page = (ref: string) => writePage("days", "Thirty days. [^docs/a#top]", { refs: [ref] });
    const run = start([
      allFull,
      agent(
        isUnit,
        use("table_describe", { table: "orders" }),
        verify,
        page("table:shop/main.order"),
        page("table:shop/main.orders"),
      ),
      quietReconciler,
    ]);
    const report = await context.ingest(run, {}, [tableTool(new CatalogueReader(context.folder))]);
    const results = asked(isUnit).flatMap(({ toolResults }) => toolResults.map((result) => result.text));
    expect(results[0]).toContain("Table of the connection `shop`");
    expect(results[2]).toContain("There is no table shop/main.order.");
    expect(results[3]).toContain("days is written");
    expect(report.pages.added).toBe(1);
  });

  test.each([true, false])(
    "two units that write one page: put together (%s), or a person is asked",
    async (isResolved) => {
      await using context = await openIngest({
        "a/x.md": "# X\n\nThirty days.\n",
        "b/y.md": "# Y\n\nForty days.\n",
      });
      const merged = (request: ModelRequest) => {
        const file = fileRead(request);
        const other = /citation: (docs\/\S+)/g;
        const sources = [...taskOf(request).matchAll(other)].map(([, citation]) => citation!);
        const missing = ["docs/a/x#top", "docs/b/y#top"].find((each) => !file.includes(`- citation: ${each}`))!;
        expect(sources).toBeDefined();
        const withSource = file.replace(
          "sources:\n",
          `sources:\n  - citation: ${missing}\n    path: x\n    sha256: x\n`,
        );
        return { content: `${withSource}\n\nThe other says otherwise. [^${missing}]\n` };
      };
      const run = start([
        allFull,
        agent(reads("a/x.md"), verify, writePage("days", "Thirty days. [^docs/a/x#top]")),
        agent(reads("b/y.md"), verify, writePage("days", "Forty days. [^docs/b/y#top]")),
        agent(
          isRepair,
          use("read_gate_error"),
          use("read_file"),
          isResolved ? use("write_file", merged) : () => text("Too hard."),
        ),
        quietReconciler,
      ]);
      const report = await context.ingest(run);
      const proposal = (await context.proposals.get(report.proposals[0]!.id))!;
      const page = proposal.changes[0]!.after!;
      if (isResolved) {
        expect(page).toContain("[^docs/a/x#top]");
        expect(page).toContain("[^docs/b/y#top]");
        expect(proposal.decisions).toEqual([]);
      } else {
        expect(proposal.decisions).toMatchObject([{ kind: "conflict", about: "page:days", sides: [{}, {}] }]);
        expect(proposal.decisions[0]!.sides[1]!.claim).toContain("Forty days.");
        expect(page).toContain("Thirty days.");
        // Two attempts, and no third.
        expect(asked(isRepair)).toHaveLength(6);
      }
      expect(asked(isRepair)[0]!.toolNames.toSorted()).toEqual(["read_file", "read_gate_error", "write_file"]);
    },
  );

  test("a ref to a removed page is fixed and verified, or the page is left out", async () => {
    for (const isRepaired of [true, false]) {
      await using context = await openIngest({ "a/x.md": "# X\n\nThirty days.\n", "b/y.md": "# Y\n\nNo old.\n" });
      await context.writePage("old", PAGE("docs/b/y#top", "Old words."));
      const noRef = (request: ModelRequest) => {
        const file = fileRead(request);
        return { content: isRepaired ? file.replace(/refs:\n {2}- page:old/, "refs: []") : `${file}\n` };
      };
      const run = start([
        allFull,
        agent(reads("a/x.md"), verify, writePage("days", "Thirty days. [^docs/a/x#top]", { refs: ["page:old"] })),
        agent(
          reads("b/y.md"),
          verify,
          use("wiki_remove", { key: "old", reason: "Gone.", citations: ["docs/b/y#top"] }),
        ),
        agent(isRepair, use("read_file"), use("write_file", noRef)),
        quietReconciler,
      ]);
      const report = await context.ingest(run);
      const proposal = (await context.proposals.get(report.proposals[0]!.id))!;
      expect(report.gates).toMatchObject(isRepaired ? { mended: 1, dropped: 0 } : { mended: 0, dropped: 1 });
      expect(proposal.changes.map(({ path }) => path)).toEqual(
        isRepaired ? ["wiki/days.md", "wiki/old.md"] : ["wiki/old.md"],
      );
      expect(run.skipped.map(({ stage, item }) => [stage, item])).toEqual(
        isRepaired ? [] : [["gates", "wiki/days.md"]],
      );
    }
  });
});

describe("curation", () => {
  const three = { "a.md": "# A\n\nOne.\n", "b.md": "# B\n\nTwo.\n", "c.md": "# C\n\nThree.\n" };
  const lanes = giveLanes(() => ({ lane: "light" }));
  const candidates = giveCandidates(([citation]) => {
    return { candidates: [aCandidate([citation!], { assertion: `It says ${citation}.` })], suspicious: null };
  });
  const reject = agent(isCurator, use("candidate_mark", { candidate: "c1", verdict: "reject", reason: "Trivial." }));

  test("a failed pass leaves its candidates open; the next run decides without reading again", async () => {
    await using context = await openIngest(three);
    const run = start([lanes, candidates, always(when(isCurator, refusal("No.")))]);
    await context.ingest(run, { curation: { batch: 1 } });
    expect(await listCandidates(context.space, ["open"])).toHaveLength(3);
    expect(run.skipped).toMatchObject([{ stage: "curate", item: "3 candidates", code: "refused" }]);

    const again = start([reject], run.steps);
    expect((await context.ingest(again, { curation: { batch: 1 } })).candidates).toMatchObject({ rejected: 3 });
    expect(asked(isCurator)).toHaveLength(6);
    expect(backend.rehearsal.modelRequests).toHaveLength(6);
    expect(await listCandidates(context.space, ["rejected"])).toHaveLength(3);
  });

  test("candidates beyond the budget are carried over; deferred ones wait for something new", async () => {
    await using context = await openIngest(three);
    const few = { curation: { batch: 1, passes: 1 } };
    const run = start([
      lanes,
      candidates,
      agent(isCurator, use("candidate_mark", { candidate: "c1", verdict: "defer", reason: "Later." })),
    ]);
    expect((await context.ingest(run, few)).candidates).toMatchObject({ groups: 3, deferred: 3 });
    const second = start([reject], run.steps);
    expect((await context.ingest(second, { curation: { batch: 8 } })).candidates).toMatchObject({
      groups: 3,
      rejected: 1,
      deferred: 2,
    });
    // Nothing new and nothing left over: the two deferred ones wait.
    const third = start([], run.steps);
    expect((await context.ingest(third)).candidates).toMatchObject({ candidates: 0 });
    expect(backend.rehearsal.modelRequests).toHaveLength(0);
    expect(await listCandidates(context.space, ["deferred"])).toHaveLength(2);
  });

  test("the same statement in two documents is one candidate with both sources", async () => {
    await using context = await openIngest({ "a.md": "# A\n\nOne.\n", "b.md": "# B\n\nTwo.\n" });
    const run = start([lanes, giveCandidates(), reject]);
    expect((await context.ingest(run)).candidates).toMatchObject({ candidates: 2, groups: 1, rejected: 1 });
    expect(taskOf(asked(isCurator)[0]!)).toContain('"saidBy": 2');
    expect(taskOf(asked(isCurator)[0]!)).toMatch(/citation="docs\/a#top"[\s\S]*citation="docs\/b#top"/);
    expect(await listCandidates(context.space, ["rejected"])).toHaveLength(2);
  });

  test("creates no more pages than allowed", async () => {
    await using context = await openIngest({ "a.md": "# A\n\nOne.\n" });
    const write = writePage("p", "One. [^docs/a#top]");
    const run = start([lanes, giveCandidates(), agent(isCurator, write)]);
    const report = await context.ingest(run, { curation: { creates: 0, updates: 1 } });
    expect(asked(isCurator)[1]?.toolResults[0]?.text).toContain("budget of this run for new pages is used up");
    expect(report.proposals).toEqual([]);
  });
});

test("a rejected proposal is neither read nor proposed again", async () => {
  await using context = await openIngest({ "a.md": "# A\n\nThirty days.\n" });
  const run = start([allFull, agent(isUnit, verify, writePage("days", "Thirty days. [^docs/a#top]")), quietReconciler]);
  const { proposals } = await context.ingest(run);
  await context.proposals.reject(proposals[0]!.id, { by: "test" });
  const again = start([], run.steps);
  expect((await context.ingest(again)).proposals).toEqual([]);
  expect(backend.rehearsal.modelRequests).toHaveLength(0);
});

test("a moved document keeps its citation and costs no request", async () => {
  await using context = await openIngest({ "a.md": "# A\n\nThirty days.\n", "b.md": "# B\n\nOther.\n" });
  const run = start([giveLanes(() => ({ lane: "skip" }))]);
  await context.ingest(run);
  await context.write("moved/a.md", "# A\n\nThirty days.\n");
  await context.remove("a.md");
  const again = start([], run.steps);
  expect((await context.ingest(again)).sources).toMatchObject([{ renamed: 1, deleted: 0 }]);
  expect((await context.ingest(again)).sources).toMatchObject([{ renamed: 0, unchanged: 2 }]);
});

test("a run tells its agents and reviewers about pages in open proposals", async () => {
  await using context = await openIngest({ "a.md": "# A\n\nThirty days.\n" });
  const write = (text: string) => agent(reads("a.md"), verify, writePage("refunds", `${text} [^docs/a#top]`));
  const first = start([allFull, write("Thirty days."), quietReconciler]);
  const [before] = (await context.ingest(first)).proposals;
  expect(before).toMatchObject({ open: expect.any(Number), quarantine: null });
  expect(before!.open).toBeGreaterThan(0);
  await context.write("a.md", "# A\n\nForty days.\n");
  const second = start([allFull, write("Forty days."), quietReconciler]);
  const [after] = (await context.ingest(second)).proposals;
  expect(second.events).toContainEqual(expect.objectContaining({ type: "stage_finished", stage: "open proposals" }));
  expect(JSON.stringify(asked(reads("a.md"))[0]?.messages)).toContain("wait for a person");
  const { summary } = (await context.proposals.get(after!.id))!;
  expect(summary).toContain(`wiki/refunds.md (${before!.id}). Decide about those first.`);
});

test("without a model nothing is requested, and the rest is listed", async () => {
  await using context = await openIngest({ "a.md": "# A\n\nThirty days.\n" });
  const run = new MemoryRun();
  expect((await context.ingest(run)).documents).toMatchObject({ left: 1 });
  expect(run.skipped).toMatchObject([{ stage: "triage", code: "not_configured" }]);
});
