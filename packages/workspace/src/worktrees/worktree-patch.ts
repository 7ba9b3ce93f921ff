import { constants, lstat, open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RequestError } from "@tandem/protocol";
import { git, GitFailed, runGit, type GitOptions } from "../git/git.ts";
import { makeTemporary } from "../git/git-user.ts";
import { giveTree } from "../give-tree.ts";
import { openNested, openRepository, type Repository } from "../git/repository.ts";
import { findUncommitted, listNested, type Prepared } from "./unsaved-work.ts";

const PATCH_MS = 300_000;
const PATCH_BYTES = 64 * 1_024 * 1_024;
/** Independent of the user's settings: no colours, prefixes or external tools. */
const PLAIN = ["--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "--no-renames"];

export interface WorktreePatch {
  /** For `git apply`, including binary files; empty if nothing changed. */
  patch: string;
  files: { path: string; added: number; removed: number }[];
}

/**
 * All changes in a worktree since `commit`, committed or not, as one patch. Excludes files uncommitted since
 * preparation. Changes nothing, not even the worktree's index.
 */
export async function readWorktreePatch(
  folder: string,
  commit: string,
  prepared: Prepared = {},
): Promise<WorktreePatch> {
  const repository = await openRepository(folder);
  return withScratchIndex(repository, async (indexFile) => {
    const options = { timeoutMs: PATCH_MS, indexFile };
    await git(repository, ["read-tree", "HEAD"], options);
    const nested = new Set(await listNested(repository));
    const changed = await findUncommitted(repository, prepared);
    await addNested(
      repository,
      changed.filter((path) => nested.has(path)),
      options,
    );
    const paths = changed.filter((path) => !nested.has(path));
    if (paths.length > 0) {
      const args = ["--literal-pathspecs", "add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"];
      await git(repository, args, { ...options, input: paths.join("\0") });
    }
    const tree = (await git(repository, ["write-tree"], options)).trim();
    return diffTrees(repository, commit, tree);
  });
}

/** `git add` would compare the files of a submodule, and run its filters. */
async function addNested(repository: Repository, paths: readonly string[], options: GitOptions): Promise<void> {
  for (const path of paths) {
    const nested = await openNested(repository, path);
    const head = nested && (await runGit(nested, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]));
    const commit = head?.exitCode === 0 ? head.stdout.toString("utf8").trim() : undefined;
    const args = commit === undefined ? ["--force-remove", "--", path] : ["--cacheinfo", `160000,${commit},${path}`];
    const isThere = await lstat(join(repository.folder, path)).catch(() => undefined);
    if (commit !== undefined || !isThere) await git(repository, ["update-index", ...args], options);
  }
}

async function diffTrees(repository: Repository, from: string, to: string): Promise<WorktreePatch> {
  const options = { timeoutMs: PATCH_MS, maxBytes: PATCH_BYTES };
  const diff = (...form: string[]) =>
    runGit(repository, ["diff", ...PLAIN, ...form, "--end-of-options", from, to], options);
  const [patch, numbers] = await Promise.all([diff("--binary", "--full-index"), diff("--numstat", "-z")]);
  if (patch.truncated) throw new RequestError("too_large", "The changes in the worktree exceed 64 MB.");
  if (patch.exitCode !== 0) throw new GitFailed(["diff"], patch);
  const files = numbers.stdout
    .toString("utf8")
    .split("\0")
    .filter((line) => line !== "")
    .map((line) => {
      const [added = "", removed = "", ...path] = line.split("\t");
      // git counts no lines of binary files.
      return { path: path.join("\t"), added: Number(added) || 0, removed: Number(removed) || 0 };
    });
  return { patch: patch.stdout.toString("utf8"), files };
}

export interface AppliedPatch {
  files: string[];
  /** A reverse patch for `applyPatch`. */
  undo: string;
}

/**
 * Applies a patch to the files of a folder, atomically; its index and branches stay unchanged. Files changed there too
 * are merged; otherwise it rejects with `conflict` and their names. `dryRun` only checks.
 */
export async function applyPatch(folder: string, patch: string, { dryRun = false } = {}): Promise<AppliedPatch> {
  const repository = await openRepository(folder);
  return withScratchIndex(repository, async (indexFile) => {
    const options = { timeoutMs: PATCH_MS, indexFile, input: patch };
    const files = await patchedPaths(repository, patch);
    if (files.length === 0) return { files, undo: "" };
    const before = await treeOf(repository, indexFile, files);
    const apply = (...args: string[]) =>
      runGit(repository, ["apply", "--whitespace=nowarn", "--verbose", ...args, "-"], options);
    // Try a plain apply, then a three-way merge against a scratch index.
    const way = (await apply("--check")).exitCode === 0 ? [] : ["--3way"];
    if (way.length > 0) await refuseConflicts(repository, files, before, patch);
    if (dryRun) return { files, undo: "" };
    const outcome = await apply(...way);
    if (outcome.exitCode !== 0) throw conflict(folder, files, outcome.stderr);
    const after = await treeOf(repository, indexFile, files);
    return { files, undo: (await diffTrees(repository, after, before)).patch };
  });
}

/** A three-way apply writes conflict markers, so try it on an index first. */
async function refuseConflicts(
  repository: Repository,
  files: readonly string[],
  before: string,
  patch: string,
): Promise<void> {
  await withScratchIndex(repository, async (indexFile) => {
    const options = { timeoutMs: PATCH_MS, indexFile, input: patch };
    await git(repository, ["read-tree", before], options);
    const args = ["apply", "--cached", "--3way", "--whitespace=nowarn", "-"];
    const outcome = await runGit(repository, args, options);
    if (outcome.exitCode === 0) return;
    const unmerged = await git(repository, ["diff", "--name-only", "--diff-filter=U", "-z"], options);
    const named = unmerged.split("\0").filter((path) => path !== "");
    throw conflict(repository.folder, named.length > 0 ? named : files, outcome.stderr);
  });
}

/** Tree of the last commit with these files as they are now. Also left in the scratch index. */
async function treeOf(repository: Repository, indexFile: string, files: readonly string[]): Promise<string> {
  const options = { timeoutMs: PATCH_MS, indexFile };
  await git(repository, ["read-tree", "HEAD"], options);
  const args = ["update-index", "--add", "--remove", "-z", "--stdin"];
  await git(repository, args, { ...options, input: files.map((path) => `${path}\0`).join("") });
  return (await git(repository, ["write-tree"], options)).trim();
}

async function patchedPaths(repository: Repository, patch: string): Promise<string[]> {
  const list = await git(repository, ["apply", "--numstat", "-z", "-"], { input: patch });
  return list
    .split("\0")
    .filter((line) => line !== "")
    .map((line) => line.split("\t").slice(2).join("\t"));
}

async function withScratchIndex<T>(repository: Repository, work: (indexFile: string) => Promise<T>): Promise<T> {
  const { user } = repository;
  const folder = await makeTemporary("tandem-index-", user);
  try {
    const indexFile = join(folder, "index");
    // The cached file times spare git from reading all files.
    const own = (await git(repository, ["rev-parse", "--path-format=absolute", "--git-path", "index"])).trim();
    await copyIndex(own, indexFile, user);
    return await work(indexFile);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function copyIndex(from: string, to: string, user: Repository["user"]): Promise<void> {
  // A pipe in its place must not block.
  const opened = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (!opened) return;
  await using handle = opened;
  const stats = await handle.stat();
  // A link above it could lead to a file of another user.
  if (!stats.isFile() || (user && stats.uid !== user.uid)) return;
  await writeFile(to, handle.createReadStream({ autoClose: false }), { mode: 0o600 });
  if (user) await giveTree(to, user);
}

const conflict = (folder: string, files: readonly string[], why: string): RequestError =>
  new RequestError(
    "conflict",
    `The patch does not fit ${folder}: ${files.join(", ")}. Nothing was changed. ${firstError(why)}`.trim(),
    { fix: "Commit or undo the changes there, or bring the worktree up to date first." },
  );

const firstError = (stderr: string): string => /^error: (.*)$/m.exec(stderr)?.[1] ?? "";
