import type { FileDiff, TreeDiff } from "@tandem/protocol";
import { GitFailed } from "../git/git.ts";
import type { PrivateGit, RunOptions } from "./private-git.ts";

export interface DiffOptions {
  patch: boolean;
  maxFiles: number;
  maxPatchBytes: number;
  /** Restricts the diff to these paths. */
  paths?: ReadonlySet<string>;
}

const RENAMES = ["-r", "-M"];
const PLAIN = ["--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"];
const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** Compares two trees with git, in a separate process. */
export async function diffTrees(
  git: PrivateGit,
  from: { tree: string; skipped: readonly string[] },
  to: { tree: string; skipped: readonly string[] },
  { patch, maxFiles, maxPatchBytes, paths, ...options }: DiffOptions & RunOptions,
): Promise<TreeDiff> {
  const range = [from.tree, to.tree];
  const listing = ["diff-tree", ...RENAMES, "-z", "--raw", "--numstat", ...range];
  const listed = await git.text(listing, { ...options, maxBytes: MAX_LIST_BYTES });
  const unknown = new Set([...from.skipped, ...to.skipped]);
  const isShown = ({ path, old_path: old }: FileDiff): boolean =>
    !unknown.has(path) && (!paths || paths.has(path) || (old !== undefined && paths.has(old)));
  const all = readListing(listed);
  const shown = all.filter(isShown);
  const files = shown.slice(0, maxFiles);
  const sum = (key: "added" | "removed"): number => shown.reduce((total, file) => total + (file[key] ?? 0), 0);
  const diff = { added: sum("added"), removed: sum("removed"), truncated: files.length < shown.length };
  if (!patch || files.length === 0) return { files, ...diff };
  // Both names of a rename; otherwise git would not detect it.
  const names = files.flatMap(({ path, old_path: old }) => [path, ...(old === undefined ? [] : [old])]);
  const args = ["--literal-pathspecs", "diff-tree", ...RENAMES, "--patch", ...PLAIN, ...range, "--", ...names];
  const outcome = await git.run(files.length === all.length ? args.slice(0, -names.length - 1) : args, {
    ...options,
    maxBytes: maxPatchBytes,
  });
  if (outcome.exitCode !== 0 && !outcome.truncated) throw new GitFailed(["diff-tree"], outcome);
  const patches = splitPatch(outcome.stdout.toString("utf8"));
  // The last patch was truncated.
  if (outcome.truncated) patches.pop();
  return {
    ...diff,
    files: files.map((file, index) => (patches[index] === undefined ? file : { ...file, patch: patches[index] })),
    truncated: diff.truncated || outcome.truncated,
  };
}

/** Content lines start with a sign or a space, so only a header starts like this. */
const splitPatch = (text: string): string[] => text.split(/^(?=diff --git )/m).filter((part) => part !== "");

const STATUSES: Record<string, FileDiff["status"]> = {
  A: "added",
  M: "modified",
  D: "deleted",
  R: "renamed",
  C: "added",
  T: "type_changed",
};

/** All entries come first, then the line counts in the same order. */
function readListing(text: string): FileDiff[] {
  const fields = text.split("\0");
  const files: FileDiff[] = [];
  let at = 0;
  for (; fields[at]?.startsWith(":"); at += 1) {
    const letter = fields[at]!.split(" ").at(-1)!.charAt(0);
    const isMove = letter === "R" || letter === "C";
    const old = isMove ? fields[(at += 1)]! : undefined;
    const path = fields[(at += 1)]!;
    const status = STATUSES[letter] ?? "modified";
    files.push({ path, ...(letter === "R" && { old_path: old }), status, binary: false, added: null, removed: null });
  }
  for (const file of files) {
    const [added = "", removed = "", path] = fields[at]!.split("\t");
    at += path === "" ? 3 : 1;
    file.binary = added === "-";
    if (!file.binary) Object.assign(file, { added: Number(added), removed: Number(removed) });
  }
  return files;
}
