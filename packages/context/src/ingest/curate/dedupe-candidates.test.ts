import { LlmError } from "@tandem/protocol";
import { expect, test } from "vitest";
import { MemoryRun } from "../../scan/testing/memory-run.ts";
import type { Candidate } from "../extract/candidate.ts";
import { dedupeCandidates } from "./dedupe-candidates.ts";

const candidate = (id: string, assertion: string, more: Partial<Candidate> = {}): Candidate => ({
  id,
  key: id,
  document: `docs/${id}`,
  source: "docs",
  path: `${id}.md`,
  sha256: "0",
  topic: "Refunds",
  assertion,
  rationale: "",
  citations: [`docs/${id}#top`],
  suggestedPage: null,
  action: "create",
  scores: { durability: 1, authority: 1, reuse: 1, novelty: 1, risk: 0 },
  suspicious: null,
  state: "open",
  note: null,
  job: "job_1",
  createdAt: "",
  ...more,
});

test("merges equal statements in other spelling, with the best scores and all citations", async () => {
  const better = { durability: 3, authority: 0, reuse: 3, novelty: 0, risk: 0 };
  const groups = await dedupeCandidates(
    new MemoryRun(),
    [
      candidate("a", "Refunds take 30 days."),
      candidate("b", "refunds take — 30 DAYS", { scores: better, suggestedPage: "refunds" }),
      candidate("c", "Refunds take 31 days."),
    ],
    undefined,
  );
  expect(groups.map(({ lead, others }) => [lead.id, ...others.map(({ id }) => id)])).toEqual([["b", "a"], ["c"]]);
  expect(groups[0]?.lead).toMatchObject({
    citations: ["docs/b#top", "docs/a#top"],
    scores: { durability: 3, authority: 1, reuse: 3, novelty: 1, risk: 0 },
    suggestedPage: "refunds",
  });
});

test("also merges by vectors, unless for different pages; embeds each once", async () => {
  let asked = 0;
  const embedder = {
    model: "m",
    dimensions: 2,
    embed: async (texts: readonly string[]) => {
      asked += 1;
      return texts.map((text) => new Float32Array(text.includes("money") ? [1, 0.1] : [1, 0]));
    },
    close: async () => {},
  };
  const run = new MemoryRun();
  const found = [
    candidate("a", "You get it back.", { suggestedPage: "refunds" }),
    candidate("b", "Your money returns."),
    candidate("c", "The money is back.", { suggestedPage: "payments" }),
  ];
  const groups = await dedupeCandidates(run, found, embedder);
  expect(groups.map(({ lead, others }) => [lead.id, ...others.map(({ id }) => id)])).toEqual([["a", "b"], ["c"]]);
  await dedupeCandidates(run, found, embedder);
  expect(asked).toBe(1);
});

test("a failing embedding service is listed and does not stop the run", async () => {
  const embedder = {
    model: "m",
    embed: () => Promise.reject(new LlmError("overloaded", "The service is away.")),
    close: async () => {},
  };
  const run = new MemoryRun();
  const groups = await dedupeCandidates(run, [candidate("a", "It returns."), candidate("b", "It is back.")], embedder);
  expect(groups.map(({ lead }) => lead.id)).toEqual(["a", "b"]);
  expect(run.skipped).toMatchObject([{ stage: "deduplicate", code: "overloaded" }]);
});
