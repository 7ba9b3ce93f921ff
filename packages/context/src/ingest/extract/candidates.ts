import type { RecordChange } from "@tandem/storage";
import { allRecords, type ContextStore } from "../../sources/context-store.ts";
import { type Candidate, candidate, type CandidateState } from "./candidate.ts";

const KIND = "candidate";

export const candidateId = ({ document, sha256, key }: Pick<Candidate, "document" | "sha256" | "key">): string =>
  `${document}#${sha256.slice(0, 12)}/${key}`;

const put = (value: Candidate): RecordChange => ({ type: "put", kind: KIND, key: value.id, value });

/**
 * Stores the candidates of one document version. Existing ones keep their state and decisions. Undecided ones of other
 * versions are superseded.
 */
export async function keepCandidates(
  store: ContextStore,
  document: { citation: string; sha256: string },
  found: readonly Candidate[],
): Promise<Candidate[]> {
  const known = new Map<string, Candidate>();
  for await (const each of allRecords(store, KIND, candidate, `${document.citation}#`)) known.set(each.id, each);
  const outdated = [...known.values()].filter(
    ({ sha256, state }) => sha256 !== document.sha256 && (state === "open" || state === "deferred"),
  );
  await store.records.write(store.space, [
    ...outdated.map((each) => put({ ...each, state: "superseded", note: "The document has changed since." })),
    ...found.filter(({ id }) => !known.has(id)).map(put),
  ]);
  return found.map((each) => known.get(each.id) ?? each);
}

/** Candidates of all documents in one of these states. */
export async function listCandidates(store: ContextStore, states: readonly CandidateState[]): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for await (const each of allRecords(store, KIND, candidate)) if (states.includes(each.state)) found.push(each);
  return found;
}

/** For `Records.write`, in the same transaction as the decision. */
export const markCandidate = (value: Candidate, state: CandidateState, note: string | null): RecordChange =>
  put({ ...value, state, note });
