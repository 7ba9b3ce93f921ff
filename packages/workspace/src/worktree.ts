import { mkdir, realpath, rm, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute } from "node:path";
import { RequestError } from "@tandem/protocol";
import { git, GitFailed, runGit } from "./git.ts";
import { openRepository, type Repository } from "./repository.ts";
import { currentBranch, findUncommitted, type Prepared } from "./unsaved-work.ts";

/** Writing out the files of a large repository takes minutes on a slow disk. */
const CHECKOUT_MS = 300_000;

export interface Worktree {
  /** Its real path. */
  folder: string;
  /** The repository's top folder. */
  repository: string;
  /** The branch that was made for it. */
  branch: string;
  /** The branch that it started from; undefined where that was a tag, a commit or no branch. */
  from: string | undefined;
  /** Where that branch began. */
  commit: string;
}

/**
 * Adds a git worktree in a folder that is not there yet, on a branch of its own: `tandem/` and the name, or that of the
 * folder. `branch` is what it starts from: a branch, tag or commit; without it, what is checked out. Nothing else in the
 * repository changes.
 */
export async function createWorktree(wanted: {
  repository: string;
  into: string;
  branch?: string;
  name?: string;
}): Promise<Worktree> {
  const { into } = wanted;
  if (!isAbsolute(into)) throw new RequestError("invalid_request", `Expected an absolute path, not ${into}.`);
  const repository = await openRepository(wanted.repository);
  const { commit, from } = await startingPoint(repository, wanted.branch);
  const branch = `tandem/${wanted.name ?? basename(into)}`;
  await checkBranchName(repository.folder, branch);
  await refuseTaken(repository.folder, branch, into);
  await mkdir(dirname(into), { recursive: true, mode: 0o700 });
  try {
    const args = ["worktree", "add", "--quiet", "--no-track", "-b", branch, "--", into, commit];
    await git(repository.folder, args, { timeoutMs: CHECKOUT_MS, settings: repository.quiet });
  } catch (cause) {
    await takeBack(repository, into, branch, commit);
    if (!(cause instanceof GitFailed)) throw cause;
    throw new RequestError("conflict", `git could not add a worktree of ${repository.folder}: ${lastLine(cause)}`, {
      cause,
    });
  }
  return { folder: await realpath(into), repository: repository.folder, branch, from, commit };
}

/**
 * Removes a worktree. Work in it that is nowhere else is not lost unless `discard` says so: `conflict`; what stands as it
 * did when it was made ready is no work. Its branch stays where it has commits of its own. A folder that is not there any
 * more is fine; one that is no worktree is refused.
 */
export async function removeWorktree(
  folder: string,
  { discard = false, prepared = {} }: { discard?: boolean; prepared?: Prepared } = {},
): Promise<void> {
  const isThere = await stat(folder).then(
    () => true,
    () => false,
  );
  if (!isThere) return;
  const worktree = await openRepository(folder);
  if (!worktree.isLinked) {
    throw new RequestError(
      "forbidden",
      `${folder} is a git repository of its own, not a worktree, and is not removed.`,
    );
  }
  const { commonDir } = worktree;
  const head = await lookUp(worktree.folder, "HEAD");
  if (!discard) await refuseLoss(worktree, head, prepared);
  const branch = (await runGit(worktree.folder, ["symbolic-ref", "--quiet", "HEAD"])).stdout.toString("utf8").trim();
  try {
    // Told not to look again only if nothing may stop it: what appears meanwhile makes git itself refuse.
    const force = discard ? ["--force", "--force"] : Object.keys(prepared).length > 0 ? ["--force"] : [];
    const args = ["--git-dir", commonDir, "worktree", "remove", ...force, "--", worktree.folder];
    await git(commonDir, args, { timeoutMs: CHECKOUT_MS, settings: worktree.quiet });
  } catch (cause) {
    if (!(cause instanceof GitFailed)) throw cause;
    throw keeps(folder, lastLine(cause), cause);
  }
  if (head !== undefined && branch.startsWith("refs/heads/tandem/")) await dropIfMerged(commonDir, branch, head);
}

/** The commit that a name stands for, and the branch if it is one. The name itself is never handed on. */
async function startingPoint(
  { folder }: Repository,
  name: string | undefined,
): Promise<{ commit: string; from: string | undefined }> {
  if (name === undefined) {
    const head = await lookUp(folder, "HEAD");
    if (head !== undefined) return { commit: head, from: await currentBranch(folder) };
    throw new RequestError(
      "invalid_request",
      `The git repository ${folder} is empty: it has no commit to start from.`,
      {
        fix: "Make a first commit.",
      },
    );
  }
  await checkBranchName(folder, name);
  const places = [`refs/heads/${name}`, `refs/tags/${name}`, `refs/remotes/${name}`, `refs/remotes/origin/${name}`];
  for (const ref of /^[0-9a-f]{7,64}$/.test(name) ? [...places, name] : places) {
    const commit = await lookUp(folder, ref);
    if (commit !== undefined) return { commit, from: ref === places[0] ? name : undefined };
  }
  throw new RequestError("invalid_request", `The git repository ${folder} has no branch, tag or commit ${name}.`, {
    fix: "Name one that git branch --all or git tag lists.",
  });
}

async function checkBranchName(folder: string, name: string): Promise<void> {
  // git takes a leading dash as part of a name here, and as an option elsewhere.
  const isFit = !name.startsWith("-") && !name.includes("\0");
  if (isFit && (await runGit(folder, ["check-ref-format", `refs/heads/${name}`])).exitCode === 0) return;
  throw new RequestError("invalid_request", `${JSON.stringify(name)} cannot be the name of a git branch.`);
}

async function refuseTaken(folder: string, branch: string, into: string): Promise<void> {
  const isThere = await stat(into).then(
    () => true,
    () => false,
  );
  if (isThere) throw new RequestError("conflict", `${into} is there already.`);
  for (const taken of ["tandem", branch]) {
    if ((await lookUp(folder, `refs/heads/${taken}`)) === undefined) continue;
    throw new RequestError("conflict", `The git repository ${folder} has a branch ${taken} already.`, {
      fix: `Rename it: git branch -m ${taken} NAME.`,
    });
  }
}

export async function lookUp(folder: string, ref: string): Promise<string | undefined> {
  const { exitCode, stdout } = await runGit(folder, [
    "rev-parse",
    "--verify",
    "--quiet",
    "--end-of-options",
    `${ref}^{commit}`,
  ]);
  return exitCode === 0 ? stdout.toString("utf8").trim() : undefined;
}

async function refuseLoss(repository: Repository, head: string | undefined, prepared: Prepared): Promise<void> {
  const { folder } = repository;
  const changed = await findUncommitted(repository, prepared);
  if (changed.length > 0) {
    throw keeps(folder, `${changed.length} changes are not committed, such as ${changed[0]}`);
  }
  if (head === undefined) return;
  const refs = await git(folder, ["for-each-ref", "--count=1", "--contains", head]);
  if (refs === "") throw keeps(folder, `the commit ${head.slice(0, 12)} is on no branch`);
}

/** A branch of ours that says nothing which another does not say, too, is of no use to anybody. */
async function dropIfMerged(commonDir: string, branch: string, head: string): Promise<void> {
  const base = ["--git-dir", commonDir];
  const refs = await git(commonDir, [...base, "for-each-ref", "--format=%(refname)", "--contains", head]);
  const others = refs.split("\n").filter((ref) => ref !== "" && ref !== branch);
  // Only if it is still where we saw it.
  if (others.length > 0) await git(commonDir, [...base, "update-ref", "-d", branch, head]);
}

/** What a failed attempt may have left. */
async function takeBack({ folder }: Repository, into: string, branch: string, commit: string): Promise<void> {
  await rm(into, { recursive: true, force: true });
  await runGit(folder, ["worktree", "prune"]);
  await runGit(folder, ["update-ref", "-d", `refs/heads/${branch}`, commit]);
}

const keeps = (folder: string, why: string, cause?: unknown): RequestError =>
  new RequestError("conflict", `The worktree ${folder} is kept: ${why}.`, {
    fix: "Commit what is to be kept, or say that it may be lost.",
    cause,
  });

const lastLine = ({ stderr }: GitFailed): string => stderr.trim().split("\n").at(-1) ?? "";
