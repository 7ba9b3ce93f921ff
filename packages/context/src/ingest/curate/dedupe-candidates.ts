import { LlmError } from "@tandem/protocol";
import { z } from "zod";
import { hashOf } from "../../hash-of.ts";
import type { Run } from "../../runs/job-run.ts";
import type { Embedder } from "@tandem/runtime";
import { type Candidate, worthOf } from "../extract/candidate.ts";

/** Candidates with the same statement. */
export interface CandidateGroup {
  /** The most valuable one, with the best scores and all citations of the group. */
  lead: Candidate;
  others: Candidate[];
}

/** Similarity from which two statements count as equal. */
const NEAR = 0.86;
const BATCH = 100;

const vectors = z.array(z.array(z.number()));

/** Deduplicates by text, ignoring case and punctuation, and by vectors if available. Most valuable first. */
export async function dedupeCandidates(
  run: Run,
  candidates: readonly Candidate[],
  embedder: Embedder | undefined,
): Promise<CandidateGroup[]> {
  const sorted = candidates.toSorted((a, b) => worthOf(b) - worthOf(a) || (a.id < b.id ? -1 : 1));
  const byWords = [...Map.groupBy(sorted, ({ assertion }) => plain(assertion)).values()];
  const groups = embedder && byWords.length > 1 ? await byMeaningIfItCan(run, byWords, embedder) : byWords;
  return groups.map(merged).toSorted((a, b) => worthOf(b.lead) - worthOf(a.lead) || (a.lead.id < b.lead.id ? -1 : 1));
}

const plain = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

function merged([first, ...others]: readonly Candidate[]): CandidateGroup {
  const all = [first!, ...others];
  const best = (name: keyof Candidate["scores"]) => Math.max(...all.map(({ scores }) => scores[name]));
  const lead = {
    ...first!,
    citations: [...new Set(all.flatMap(({ citations }) => citations))],
    suggestedPage: all.map(({ suggestedPage }) => suggestedPage).find((page) => page !== null) ?? null,
    scores: {
      durability: best("durability"),
      authority: best("authority"),
      reuse: best("reuse"),
      novelty: best("novelty"),
      risk: best("risk"),
    },
  };
  return { lead, others };
}

/** Vectors are optional: without them the curator sees more duplicates, and the run continues. */
async function byMeaningIfItCan(run: Run, groups: Candidate[][], embedder: Embedder): Promise<Candidate[][]> {
  try {
    return await byMeaning(run, groups, embedder);
  } catch (error) {
    run.signal.throwIfAborted();
    if (!(error instanceof LlmError)) throw error;
    run.skip("deduplicate", "comparing candidates by meaning", error);
    return groups;
  }
}

/** Adds each to the first group whose lead is similar enough and not meant for another page. */
async function byMeaning(run: Run, groups: Candidate[][], embedder: Embedder): Promise<Candidate[][]> {
  const found: { group: Candidate[]; vector: readonly number[] }[] = [];
  const all = await embedAll(
    run,
    groups.map(([first]) => `${first!.topic}\n${first!.assertion}`),
    embedder,
  );
  for (const [index, group] of groups.entries()) {
    const vector = all[index]!;
    const same = found.find((other) => isSamePage(other.group[0]!, group[0]!) && cosine(other.vector, vector) >= NEAR);
    if (same) same.group.push(...group);
    else found.push({ group: [...group], vector });
  }
  return found.map(({ group }) => group);
}

async function embedAll(run: Run, texts: readonly string[], embedder: Embedder): Promise<number[][]> {
  const found: number[][] = [];
  for (let from = 0; from < texts.length; from += BATCH) {
    const batch = texts.slice(from, from + BATCH);
    const inputs = { model: embedder.model, texts: hashOf(batch) };
    found.push(
      ...(await run.step("candidate-vectors", inputs, vectors, async () =>
        (await embedder.embed(batch, { signal: run.signal })).map((vector) => [...vector]),
      )),
    );
  }
  return found;
}

const isSamePage = (a: Candidate, b: Candidate): boolean =>
  a.suggestedPage === null || b.suggestedPage === null || a.suggestedPage === b.suggestedPage;

function cosine(a: readonly number[], b: readonly number[]): number {
  let [dot, left, right] = [0, 0, 0];
  for (let i = 0; i < a.length; i += 1) {
    dot += a[i]! * (b[i] ?? 0);
    left += a[i]! ** 2;
    right += (b[i] ?? 0) ** 2;
  }
  return left === 0 || right === 0 ? 0 : dot / Math.sqrt(left * right);
}
