import { createHash } from "node:crypto";
import { makeChange } from "./make-hunks.ts";
import type { Change } from "./proposal.ts";
import type { Draft } from "../draft.ts";

export interface DraftedChange {
  change: Omit<Change, "after">;
  isRemoval: boolean;
}

/** Keeps the changes and a hash of all texts, not the drafts: their evidence is many times as large. */
export async function readDrafts(
  drafts: Iterable<Draft> | AsyncIterable<Draft>,
): Promise<{ drafted: DraftedChange[]; hash: string }> {
  const drafted: DraftedChange[] = [];
  const hash = createHash("sha256");
  for await (const draft of drafts) {
    const { path, before, after } = draft;
    if (before === after) continue;
    hash.update(JSON.stringify([path, before, after]));
    drafted.push({ change: makeChange(draft), isRemoval: after === null });
  }
  return { drafted, hash: hash.digest("hex") };
}
