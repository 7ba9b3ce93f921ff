import { withHunks } from "./apply-hunks.ts";
import { aspectOfPath, makeChange } from "./make-hunks.ts";
import type { Change, Hunk } from "./proposal.ts";

/** A person's edit of a file. Unchanged parts keep their evidence; the rest is the person's. */
export function editedChange(
  old: Change,
  after: string,
  { by, at, next }: { by: string; at: string; next: number },
): Change {
  const aspect = old.hunks[0]?.aspect ?? aspectOfPath(old.path);
  const words = [{ type: "person" as const, name: by, at }];
  const everything = [{ from: 1, to: Infinity, aspect, evidence: words }];
  const made = makeChange({ path: old.path, before: old.before, after, support: everything, removal: everything });
  const before = new Map(old.hunks.map((hunk) => [hunk.fingerprint, hunk]));
  const place = old.evidence.length;
  const hunks = made.hunks.map((hunk, index): Hunk => {
    const same = before.get(hunk.fingerprint);
    const { support, removal } = same ?? {
      support: hunk.support.map((line) => line.map((i) => i + place)),
      removal: hunk.removal.map((i) => i + place),
    };
    return {
      ...hunk,
      ...(same && { aspect: same.aspect, certain: same.certain, held: same.held }),
      support,
      removal,
      id: String(next + index),
    };
  });
  return { ...made, after: withHunks(old.before, hunks, false), evidence: [...old.evidence, ...made.evidence], hunks };
}
