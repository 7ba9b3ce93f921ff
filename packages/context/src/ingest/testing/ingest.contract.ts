import type { Backend } from "@tandem/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MemoryRun } from "../../scan/testing/memory-run.ts";
import { RehearsedBackend } from "../../scan/testing/rehearsed-backend.ts";
import { isCurator, isReconciler, isUnit, plainTools } from "./agent-requests.ts";
import { openTestIngest } from "./open-test-ingest.ts";
import { REFUND_REQUESTS, REFUNDS, refundsScript } from "./refunds-script.ts";

const EVIDENCE = ["evidence_neighbours", "evidence_search"];
const WIKI = ["wiki_list_tags", "wiki_read", "wiki_remove", "wiki_search", "wiki_write"];

/** Verifies the agents of an ingest on one backend, from documents to a proposal, and that a repetition is free. */
export function ingestContract(name: Exclude<Backend, "none">): void {
  describe(`an ingest on ${name}`, () => {
    let backend: RehearsedBackend;
    beforeAll(async () => {
      backend = await RehearsedBackend.open(name);
    });
    afterAll(() => backend[Symbol.asyncDispose]());

    test("units, curator and reconciliation use their own tools, and a second run requests nothing", async () => {
      await using context = await openTestIngest(REFUNDS);
      const run = new MemoryRun(backend.play(refundsScript()));
      const report = await context.ingest(run);
      expect(run.skipped).toEqual([]);
      expect(report).toMatchObject({
        documents: { skip: 1, light: 1, full: 1 },
        units: { done: 1, failed: [] },
        candidates: { candidates: 1, promoted: 1 },
        reconciled: { contradictions: 1, failed: null },
        pages: { added: 1 },
        proposals: [{ accepted: 0, open: 1, decisions: 1, quarantine: null }],
      });

      const { modelRequests } = backend.rehearsal;
      const of = (which: typeof isUnit) => modelRequests.filter(which);
      expect([of(isUnit), of(isCurator), of(isReconciler)].map(({ length }) => length)).toEqual([4, 4, 2]);
      expect(modelRequests).toHaveLength(REFUND_REQUESTS);
      expect(plainTools(of(isUnit)[0]!)).toEqual(
        [...EVIDENCE, ...WIKI, "candidate_write", "load_skill", "read_source", "record_verification"].toSorted(),
      );
      expect(plainTools(of(isCurator)[0]!)).toEqual([...EVIDENCE, ...WIKI, "candidate_mark", "load_skill"].toSorted());
      expect(plainTools(of(isReconciler)[0]!)).toEqual(
        [
          ...EVIDENCE,
          ...WIKI,
          "emit_contradiction",
          "emit_eviction",
          "emit_merge",
          "eviction_list",
          "load_skill",
          "stage_diff",
          "stage_list",
        ].toSorted(),
      );
      expect(of(isUnit)[1]?.toolResults[0]?.text).toContain("verification_required");
      expect(backend.reports.map(({ role }) => role)).toEqual([
        "triage",
        "triage",
        "candidateExtraction",
        "curator",
        "reconcile",
      ]);

      const proposal = await context.proposals.get(report.proposals[0]!.id);
      const [change] = proposal!.changes;
      expect(change!.path).toBe("wiki/refunds.md");
      const { newLines, support } = change!.hunks[0]!;
      const restsOn = (line: string) =>
        support[newLines.findIndex((each) => each.includes(line))]!.map((index) => change!.evidence[index]!).flatMap(
          (each) => (each.type === "source" ? [each.citation] : []),
        );
      expect(restsOn("within 30 days")).toEqual(["docs/refunds#policy"]);
      expect(restsOn("14 days")).toEqual(["docs/faq#top"]);
      expect(restsOn("summary")).toEqual(["docs/refunds#policy", "docs/faq#top"]);
      expect(proposal!.decisions).toMatchObject([
        { kind: "contradiction", sides: [{ evidence: [{ path: "refunds.md" }] }, { evidence: [{ path: "faq.md" }] }] },
      ]);

      const again = new MemoryRun(run.llm, { steps: run.steps });
      expect(await context.ingest(again)).toMatchObject({ sources: [{ unchanged: 3 }], proposals: [] });
      expect(modelRequests).toHaveLength(REFUND_REQUESTS);
    });
  });
}
