import { always, refusal, when } from "@tandem/rehearsal";
import { describe, expect, test } from "vitest";
import { giveLanes } from "./extract/testing/extract-answers.ts";
import { agent, isReconciler, isUnit, use, verify, writePage } from "./testing/agent-requests.ts";
import { allFull, quietReconciler, ingestSuite } from "./testing/ingest-suite.ts";

const { openIngest, asked, start } = await ingestSuite();

describe("reconciliation", () => {
  const page = writePage("days", "Thirty days. [^docs/a#top]");
  async function withAcceptedPage() {
    const context = await openIngest({ "a.md": "# A\n\nThirty days.\n", "b.md": "# B\n\nOther.\n" });
    const lanes = giveLanes((path) => ({ lane: path === "a.md" ? "full" : "skip" }));
    const run = start([lanes, agent(isUnit, verify, page), quietReconciler]);
    const report = await context.ingest(run);
    await context.proposals.accept(report.proposals[0]!.id, { by: "test" });
    expect(await context.page("days")).toContain("Thirty days.");
    await context.remove("a.md");
    return { context, steps: run.steps };
  }
  const provenanceOf = async (context: Awaited<ReturnType<typeof openIngest>>) =>
    (await context.store.records.list(context.folder.id, "provenance", { limit: 10 })).map(({ key }) => key);

  test("content of a deleted source is removed by decision, with the source as reason", async () => {
    const { context, steps } = await withAcceptedPage();
    await using _ = context;
    const evict = use("emit_eviction", { artifact: "page:days", decision: "remove", reason: "Its source is gone." });
    const remove = use("wiki_remove", { key: "days", reason: "Gone.", citations: ["docs/a#top"] });
    const run = start([agent(isReconciler, use("eviction_list"), evict, remove, evict)], steps);
    const report = await context.ingest(run);
    expect(asked(isReconciler)[1]?.toolResults[0]?.text).toContain(
      "page:days: rests on nothing else; gone: docs/a#top",
    );
    expect(asked(isReconciler)[2]?.toolResults[0]?.text).toContain("still cites docs/a#top");
    expect(report).toMatchObject({ reconciled: { evicted: 1, kept: 0 }, pages: { removed: 1 } });
    const proposal = (await context.proposals.get(report.proposals[0]!.id))!;
    expect(proposal.changes).toMatchObject([{ path: "wiki/days.md", after: null }]);
    const { removal } = proposal.changes[0]!.hunks[0]!;
    expect(removal.map((index) => proposal.changes[0]!.evidence[index])).toContainEqual(
      expect.objectContaining({ type: "source", path: "a.md", citation: "docs/a#top" }),
    );
    expect(await provenanceOf(context)).toEqual(["docs b.md"]);
    expect(await context.store.records.list(context.folder.id, "chunk", { prefix: "docs/a", limit: 5 })).toEqual([]);
    expect((await context.ingest(start([], steps))).proposals).toEqual([]);
  });

  test("kept or undecided content becomes a question", async () => {
    const { context, steps } = await withAcceptedPage();
    await using _ = context;
    const keep = use("emit_eviction", { artifact: "page:days", decision: "keep", reason: "It was decided." });
    const report = await context.ingest(start([agent(isReconciler, keep)], steps));
    const proposal = (await context.proposals.get(report.proposals[0]!.id))!;
    expect(proposal.changes).toEqual([]);
    expect(proposal.decisions).toMatchObject([{ kind: "eviction", about: "page:days" }]);
    expect(proposal.decisions[0]!.question).toContain("It was decided.");
  });

  test("a failure is reported, and the next run handles the deleted source", async () => {
    const { context, steps } = await withAcceptedPage();
    await using _ = context;
    const run = start([always(when(isReconciler, refusal("No.")))], steps);
    const report = await context.ingest(run);
    expect(report.reconciled.failed).toEqual(expect.any(String));
    expect(run.skipped).toMatchObject([{ stage: "reconcile", code: "refused" }]);
    expect(await provenanceOf(context)).toEqual(["docs a.md", "docs b.md"]);
    const again = start([quietReconciler], steps);
    expect((await context.ingest(again)).reconciled).toMatchObject({ kept: 1, failed: null });
  });

  test("unreconciled changes are proposed with a note", async () => {
    await using context = await openIngest({ "a.md": "# A\n\nThirty days.\n" });
    const run = start([allFull, agent(isUnit, verify, page), always(when(isReconciler, refusal("No.")))]);
    const report = await context.ingest(run);
    const proposal = (await context.proposals.get(report.proposals[0]!.id))!;
    expect(proposal.summary).toContain("were not reconciled");
    expect(proposal.changes).toHaveLength(1);
  });
});
