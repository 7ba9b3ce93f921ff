import { RequestError } from "@tandem/protocol";
import { git, runGit } from "../git/git.ts";
import type { Person } from "../git/push-folder.ts";
import { openRepository, type Repository } from "../git/repository.ts";
import { findTracked } from "./unsaved-work.ts";
import { resolveRef } from "./worktree.ts";

const MERGE_MS = 300_000;

export interface Merge {
  /** The updated branch. */
  into: string;
  kind: "fast-forward" | "merge" | "nothing";
  /** Its old and new commit. */
  before: string;
  after: string;
  commits: number;
}

/**
 * Merges a worktree's branch into another branch of its repository, by fast-forward or a merge commit. Rejects with the
 * names of conflicting files before changing anything, and if the target is checked out with changes. `dryRun` only
 * checks.
 */
export async function mergeWorktree(
  folder: string,
  { into, message, who, dryRun = false }: { into: string; message: string; who: Person; dryRun?: boolean },
): Promise<Merge> {
  const repository = await openRepository(folder);
  const head = await commitOf(repository, "HEAD");
  const before = await resolveRef(repository, `refs/heads/${into}`);
  if (before === undefined) {
    throw new RequestError("invalid_request", `The git repository of ${folder} has no branch ${into}.`, {
      fix: "Name the branch that it is to go to.",
    });
  }
  const commits = Number(await git(repository, ["rev-list", "--count", `${before}..${head}`]));
  if (commits === 0) return { into, kind: "nothing", before, after: before, commits };
  const isForward = (await runGit(repository, ["merge-base", "--is-ancestor", before, head])).exitCode === 0;
  const settings = { "user.name": who.name, "user.email": who.email };
  const after = isForward ? head : await mergeCommit(repository, { before, head, into, message, settings });
  const kind = isForward ? "fast-forward" : "merge";
  await moveBranch(repository, { branch: into, before, after, dryRun });
  return { into, kind, before, after, commits };
}

/** Resets a branch to its state before a merge, if nothing was added since. */
export async function undoMerge(folder: string, { into, before, after }: Merge): Promise<void> {
  const repository = await openRepository(folder);
  await moveBranch(repository, { branch: into, before: after, after: before, dryRun: false });
}

/** Created without touching any branch or working folder. */
async function mergeCommit(
  repository: Repository,
  parts: { before: string; head: string; into: string; message: string; settings: Record<string, string> },
): Promise<string> {
  const { before, head, into, message, settings } = parts;
  const args = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", before, head];
  const merged = await runGit(repository, args, { settings, timeoutMs: MERGE_MS });
  const [tree = "", ...conflicts] = merged.stdout.toString("utf8").split("\0");
  if (merged.exitCode !== 0) {
    const names = [...new Set(conflicts.filter((path) => path !== ""))];
    throw new RequestError("conflict", `The worktree and ${into} have both changed ${names.join(", ")}.`, {
      fix: `Merge ${into} into the worktree first (an agent can do that), then try again.`,
    });
  }
  const commit = ["commit-tree", tree, "-p", before, "-p", head, "-m", message];
  return (await git(repository, commit, { settings })).trim();
}

async function moveBranch(
  repository: Repository,
  move: { branch: string; before: string; after: string; dryRun: boolean },
): Promise<void> {
  const { branch, before, after, dryRun } = move;
  if ((await resolveRef(repository, `refs/heads/${branch}`)) !== before) {
    throw new RequestError("conflict", `The branch ${branch} has moved in the meantime.`);
  }
  const place = await checkedOut(repository, branch);
  if (place === undefined) {
    if (!dryRun) await git(repository, ["update-ref", "-m", "tandem: worktree", `refs/heads/${branch}`, after, before]);
    return;
  }
  const there = await openRepository(place);
  const changed = await findTracked(there);
  if (changed.length > 0) {
    const named = changed.slice(0, 3).join(", ");
    throw new RequestError("conflict", `${branch} is checked out in ${place} with changes: ${named}.`, {
      fix: "Commit or stash them there first, or take the patch instead (`tandem sessions worktrees patch`).",
    });
  }
  if (dryRun) return;
  // Keeps untracked files, and refuses to overwrite them.
  const args = ["reset", "--quiet", "--keep", after];
  const outcome = await runGit(there, args, { timeoutMs: MERGE_MS });
  if (outcome.exitCode === 0) return;
  const why = outcome.stderr.trim().split("\n")[0] ?? "";
  throw new RequestError("conflict", `git could not bring ${branch} up to date in ${place}: ${why}`);
}

/** The folder in which a branch is checked out. */
async function checkedOut(repository: Repository, branch: string): Promise<string | undefined> {
  // Without the view, whose folder git would list.
  const { folder, gitDir, user } = repository;
  const list = await git({ folder, gitDir, user }, ["worktree", "list", "--porcelain", "-z"]);
  const blocks = list.split("\0\0").map((block) => block.split("\0"));
  const found = blocks.find((lines) => lines.includes(`branch refs/heads/${branch}`));
  return found?.find((line) => line.startsWith("worktree "))?.slice("worktree ".length);
}

async function commitOf(repository: Repository, ref: string): Promise<string> {
  const commit = await resolveRef(repository, ref);
  if (commit !== undefined) return commit;
  throw new RequestError("conflict", `The worktree ${repository.folder} has no commit.`);
}
