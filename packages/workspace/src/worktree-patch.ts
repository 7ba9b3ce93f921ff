import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RequestError } from "@tandem/protocol";
import { git, GitFailed, runGit } from "./git.ts";
import { openRepository, type Repository } from "./repository.ts";
import { findUncommitted, type Prepared } from "./unsaved-work.ts";

const PATCH_MS = 300_000;
const PATCH_BYTES = 64 * 1_024 * 1_024;
/** A patch is the same whoever reads it: no colours, prefixes or tools of the user's. */
const PLAIN = ["--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "--no-renames"];

export interface WorktreePatch {
  /** As `git apply` takes it, binary files included; empty where nothing changed. */
  patch: string;
  files: { path: string; added: number; removed: number }[];
}

/**
 * Everything that was done in a worktree since `commit`, committed or not, as one patch. What stood there uncommitted when
 * it was made ready is not part of it. Nothing in the worktree changes, not even its index.
 */
export async function readWorktreePatch(
  folder: string,
  commit: string,
  prepared: Prepared = {},
): Promise<WorktreePatch> {
  const repository = await openRepository(folder);
  return withScratchIndex(repository, async (indexFile) => {
    const options = { settings: repository.quiet, timeoutMs: PATCH_MS, indexFile };
    await git(repository.folder, ["read-tree", "HEAD"], options);
    const paths = await findUncommitted(repository, prepared);
    if (paths.length > 0) {
      const args = ["--literal-pathspecs", "add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"];
      await git(repository.folder, args, { ...options, input: paths.join("\0") });
    }
    const tree = (await git(repository.folder, ["write-tree"], options)).trim();
    return diffTrees(repository, commit, tree);
  });
}

async function diffTrees(repository: Repository, from: string, to: string): Promise<WorktreePatch> {
  const options = { settings: repository.quiet, timeoutMs: PATCH_MS, maxBytes: PATCH_BYTES };
  const diff = (...form: string[]) =>
    runGit(repository.folder, ["diff", ...PLAIN, ...form, "--end-of-options", from, to], options);
  const [patch, numbers] = await Promise.all([diff("--binary", "--full-index"), diff("--numstat", "-z")]);
  if (patch.truncated) throw new RequestError("too_large", "What was changed in the worktree is more than 64 MB.");
  if (patch.exitCode !== 0) throw new GitFailed(["diff"], patch);
  const files = numbers.stdout
    .toString("utf8")
    .split("\0")
    .filter((line) => line !== "")
    .map((line) => {
      const [added = "", removed = "", ...path] = line.split("\t");
      // Of binary files, git counts no lines.
      return { path: path.join("\t"), added: Number(added) || 0, removed: Number(removed) || 0 };
    });
  return { patch: patch.stdout.toString("utf8"), files };
}

export interface AppliedPatch {
  files: string[];
  /** Takes it back, by `applyPatch`. */
  undo: string;
}

/**
 * Applies a patch to the files of a folder, all of it or nothing; its index and branches stay as they are. A file that was
 * changed there too is merged if git can; where it cannot, that is a `conflict` with the names. `dryRun` only looks.
 */
export async function applyPatch(folder: string, patch: string, { dryRun = false } = {}): Promise<AppliedPatch> {
  const repository = await openRepository(folder);
  const { quiet } = repository;
  return withScratchIndex(repository, async (indexFile) => {
    const options = { settings: quiet, timeoutMs: PATCH_MS, indexFile, input: patch };
    const files = await patchedPaths(repository, patch);
    if (files.length === 0) return { files, undo: "" };
    const before = await treeOf(repository, indexFile, files);
    const apply = (...args: string[]) =>
      runGit(repository.folder, ["apply", "--whitespace=nowarn", "--verbose", ...args, "-"], options);
    // As it stands, or merged with what has changed since; then against the index, which is a scratch one.
    const way = (await apply("--check")).exitCode === 0 ? [] : ["--3way"];
    if (way.length > 0) await refuseConflicts(repository, files, before, patch);
    if (dryRun) return { files, undo: "" };
    const outcome = await apply(...way);
    if (outcome.exitCode !== 0) throw conflict(folder, files, outcome.stderr);
    const after = await treeOf(repository, indexFile, files);
    return { files, undo: (await diffTrees(repository, after, before)).patch };
  });
}

/** A three-way apply writes what it can, conflicts and all: it is tried on an index alone first. */
async function refuseConflicts(
  repository: Repository,
  files: readonly string[],
  before: string,
  patch: string,
): Promise<void> {
  await withScratchIndex(repository, async (indexFile) => {
    const options = { settings: repository.quiet, timeoutMs: PATCH_MS, indexFile, input: patch };
    await git(repository.folder, ["read-tree", before], options);
    const args = ["apply", "--cached", "--3way", "--whitespace=nowarn", "-"];
    const outcome = await runGit(repository.folder, args, options);
    if (outcome.exitCode === 0) return;
    const unmerged = await git(repository.folder, ["diff", "--name-only", "--diff-filter=U", "-z"], options);
    const named = unmerged.split("\0").filter((path) => path !== "");
    throw conflict(repository.folder, named.length > 0 ? named : files, outcome.stderr);
  });
}

/** The last commit's tree, with these files as they are in the folder now. Left in the scratch index, too. */
async function treeOf({ folder, quiet }: Repository, indexFile: string, files: readonly string[]): Promise<string> {
  const options = { settings: quiet, timeoutMs: PATCH_MS, indexFile };
  await git(folder, ["read-tree", "HEAD"], options);
  const args = ["update-index", "--add", "--remove", "-z", "--stdin"];
  await git(folder, args, { ...options, input: files.map((path) => `${path}\0`).join("") });
  return (await git(folder, ["write-tree"], options)).trim();
}

async function patchedPaths({ folder }: Repository, patch: string): Promise<string[]> {
  const list = await git(folder, ["apply", "--numstat", "-z", "-"], { input: patch });
  return list
    .split("\0")
    .filter((line) => line !== "")
    .map((line) => line.split("\t").slice(2).join("\t"));
}

async function withScratchIndex<T>(repository: Repository, work: (indexFile: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "tandem-index-"));
  try {
    const indexFile = join(folder, "index");
    // Its times of files spare git reading them all again.
    const own = (await git(repository.folder, ["rev-parse", "--path-format=absolute", "--git-path", "index"])).trim();
    await copyFile(own, indexFile).catch(() => undefined);
    return await work(indexFile);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const conflict = (folder: string, files: readonly string[], why: string): RequestError =>
  new RequestError(
    "conflict",
    `The patch does not fit ${folder}: ${files.join(", ")}. Nothing was changed. ${firstError(why)}`.trim(),
    { fix: "Commit or undo what was changed there, or bring the worktree up to date first." },
  );

const firstError = (stderr: string): string => /^error: (.*)$/m.exec(stderr)?.[1] ?? "";
