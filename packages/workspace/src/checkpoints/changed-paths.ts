import type { PrivateGit, RunOptions } from "./private-git.ts";

export interface TreeEntry {
  mode: string;
  object: string;
}

/** A path that differs between two trees: `from` is null if it is new, `to` if it is deleted. */
export interface PathChange {
  path: string;
  from: TreeEntry | null;
  to: TreeEntry | null;
}

/** Bounds git's raw output. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Without rename detection: a moved file is a deletion and an addition. */
export async function changedPaths(
  git: PrivateGit,
  from: string,
  to: string,
  options: RunOptions,
): Promise<PathChange[]> {
  if (from === to) return [];
  const raw = await git.text(["diff-tree", "-r", "-z", "--raw", "--no-renames", from, to], {
    ...options,
    maxBytes: MAX_BYTES,
  });
  const fields = raw.split("\0");
  const changes: PathChange[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [oldMode = "", newMode = "", oldObject = "", newObject = ""] = fields[at]!.slice(1).split(" ");
    changes.push({ path: fields[at + 1]!, from: entryOf(oldMode, oldObject), to: entryOf(newMode, newObject) });
  }
  return changes;
}

const entryOf = (mode: string, object: string): TreeEntry | null => (/^0+$/.test(mode) ? null : { mode, object });

export const isSameEntry = (a: TreeEntry | null, b: TreeEntry | null): boolean =>
  a?.mode === b?.mode && a?.object === b?.object;
