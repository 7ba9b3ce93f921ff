import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { git, runGit, type GitPlace } from "../git/git.ts";
import { openNested, openRepository, type Repository } from "../git/repository.ts";

/** Comparing a large repository takes minutes on a slow disk. */
const STATUS_MS = 300_000;
const LIST_BYTES = 256 * 1_024 * 1_024;
const MAX_NESTED = 5;

/** Work in a worktree that exists nowhere else. */
export interface UnsavedWork {
  /** Changed, new or deleted paths. */
  uncommitted: string[];
  /** Commits that no other branch, remote or tag contains. */
  commits: number;
  /** Stashes made on its branch. */
  stashes: number;
}

/** Uncommitted files right after preparation, by content hash; empty for deleted ones. */
export type Prepared = Readonly<Record<string, string>>;

export const isSaved = ({ uncommitted, commits, stashes }: UnsavedWork): boolean =>
  uncommitted.length === 0 && commits === 0 && stashes === 0;

export async function findUnsaved(folder: string, prepared: Prepared = {}): Promise<UnsavedWork> {
  const repository = await openRepository(folder);
  const branch = await currentBranch(repository);
  const [uncommitted, commits, stashes] = await Promise.all([
    findUncommitted(repository, prepared),
    countCommits(repository, branch),
    countStashes(repository, branch),
  ]);
  return { uncommitted, commits, stashes };
}

/** Records the uncommitted files of a worktree right after copied files and the setup command. */
export async function readPrepared(folder: string): Promise<Prepared> {
  const repository = await openRepository(folder);
  const paths = await changedPaths(repository);
  const ids = await contentIds(repository, paths);
  return Object.fromEntries(paths.map((path) => [path, ids.get(path) ?? ""]));
}

/** Paths that differ from the last commit, except for those unchanged since preparation. */
export async function findUncommitted(repository: Repository, prepared: Prepared): Promise<string[]> {
  const paths = await changedPaths(repository);
  const known = paths.filter((path) => Object.hasOwn(prepared, path));
  const ids = await contentIds(repository, known);
  const untouched = new Set(known.filter((path) => (ids.get(path) ?? "") === prepared[path]));
  return paths.filter((path) => !untouched.has(path));
}

export async function currentBranch(place: GitPlace): Promise<string | undefined> {
  const { exitCode, stdout } = await runGit(place, ["symbolic-ref", "--quiet", "--short", "HEAD"]);
  return exitCode === 0 ? stdout.toString("utf8").trim() : undefined;
}

/** Tracked files that differ from the last commit, staged or not. */
export const findTracked = (repository: Repository): Promise<string[]> => changedPaths(repository, "no");

async function changedPaths(repository: Repository, untracked: "all" | "no" = "all", depth = 1): Promise<string[]> {
  // git would run the filters of a submodule whose files it compares. So we look into submodules ourselves.
  const how = ["--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty"];
  const args = ["status", ...how, `--untracked-files=${untracked}`];
  const status = await git(repository, args, { timeoutMs: STATUS_MS });
  const paths = new Set(
    status
      .split("\0")
      .filter((line) => line !== "")
      .map((line) => line.slice(3)),
  );
  for (const path of depth < MAX_NESTED ? await listNested(repository) : []) {
    const nested = paths.has(path) ? undefined : await openNested(repository, path);
    if (nested && (await changedPaths(nested, untracked, depth + 1)).length > 0) paths.add(path);
  }
  return [...paths].sort();
}

/** The submodules and other repositories that the index or the last commit contains. */
export async function listNested(repository: Repository): Promise<string[]> {
  const lists = await Promise.all([
    runGit(repository, ["ls-files", "--stage", "-z"], { maxBytes: LIST_BYTES }),
    runGit(repository, ["ls-tree", "-r", "-z", "--full-tree", "HEAD"], { maxBytes: LIST_BYTES }),
  ]);
  const entries = lists.flatMap(({ stdout }) => stdout.toString("utf8").split("\0"));
  return [...new Set(entries.flatMap((entry) => /^160000 .*?\t(.+)$/s.exec(entry)?.[1] ?? []))];
}

/** git's content hashes of files; omits missing paths and other types. */
async function contentIds(repository: Repository, paths: readonly string[]): Promise<Map<string, string>> {
  const stats = await Promise.all(paths.map((path) => lstat(join(repository.folder, path)).catch(() => undefined)));
  // A path with a line feed cannot be passed on stdin; it counts as work.
  const files = paths.filter((path, index) => stats[index]?.isFile() && !path.includes("\n"));
  if (files.length === 0) return new Map();
  const input = `${files.join("\n")}\n`;
  const ids = (await git(repository, ["hash-object", "--no-filters", "--stdin-paths"], { input })).trim().split("\n");
  return new Map(files.map((path, index) => [path, ids[index]!]));
}

async function countCommits(place: GitPlace, branch: string | undefined): Promise<number> {
  const own = branch === undefined ? [] : [`--exclude=${branch}`];
  const elsewhere = [...own, "--branches", "--remotes", "--tags"];
  const { exitCode, stdout } = await runGit(place, ["rev-list", "--count", "HEAD", "--not", ...elsewhere]);
  return exitCode === 0 ? Number(stdout.toString("utf8")) : 0;
}

/** Stashes belong to the repository and stay in it; git records the branch of each. */
async function countStashes(place: GitPlace, branch: string | undefined): Promise<number> {
  if (branch === undefined) return 0;
  const list = await git(place, ["stash", "list", "--format=%gs"]);
  return list.split("\n").filter((line) => /^(?:WIP on|On) /.test(line) && line.includes(` ${branch}: `)).length;
}
