import { chown, mkdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { RequestError } from "@tandem/protocol";
import { git, GitFailed, runGit, type GitPlace } from "../git/git.ts";
import { gitUser } from "../git/git-user.ts";
import { removeTree } from "../remove-tree.ts";
import { openRepository, type Repository } from "../git/repository.ts";
import { currentBranch, findUncommitted, listNested, type Prepared } from "./unsaved-work.ts";

/** Checking out a large repository takes minutes on a slow disk. */
const CHECKOUT_MS = 300_000;

export interface Worktree {
  /** Real path. */
  folder: string;
  /** Top folder of the repository. */
  repository: string;
  /** The branch created for it. */
  branch: string;
  /** The branch it started from; undefined for a tag, a commit or a detached HEAD. */
  from: string | undefined;
  /** Start commit of its branch. */
  commit: string;
}

/**
 * Adds a git worktree in a new folder, on a new branch: `tandem/` and the given or the folder's name. `branch` is the
 * start: a branch, tag or commit; default: HEAD. Nothing else in the repository changes.
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
  await checkBranchName(repository, branch);
  await refuseTaken(repository, branch, into);
  await mkdir(dirname(into), { recursive: true, mode: 0o700 });
  const { folder, gitDir } = repository;
  const user = repository.user && (await gitUser(folder, gitDir, dirname(into)));
  // git takes an empty folder. The one above it is the server's own.
  await mkdir(into);
  if (user) await chown(into, user.uid, user.gid);
  try {
    const args = ["worktree", "add", "--quiet", "--no-checkout", "--no-track", "-b", branch, "--", into, commit];
    // Without the view, whose path git would write into the worktree. Without a checkout, no filter runs.
    await git({ folder, gitDir, user }, args, { timeoutMs: CHECKOUT_MS });
    await git(await openRepository(into), ["reset", "--quiet", "--hard"], { timeoutMs: CHECKOUT_MS });
  } catch (cause) {
    await takeBack(repository, into, branch, commit);
    if (!(cause instanceof GitFailed)) throw cause;
    throw new RequestError("conflict", `git could not add a worktree of ${folder}: ${lastLine(cause)}`, {
      cause,
    });
  }
  return { folder: await realpath(into), repository: folder, branch, from, commit };
}

/**
 * Removes a worktree. Rejects with `conflict` if it has work that exists nowhere else, unless `discard` is set; files
 * unchanged since preparation do not count. A branch with its own commits is kept. A missing folder is fine; a folder
 * that is not a worktree is rejected.
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
  const { commonDir, user } = worktree;
  const head = await resolveRef(worktree, "HEAD");
  if (!discard) await refuseLoss(worktree, head, prepared);
  const branch = (await runGit(worktree, ["symbolic-ref", "--quiet", "HEAD"])).stdout.toString("utf8").trim();
  try {
    if (!discard) await refuseLocked(worktree, Object.keys(prepared).length > 0);
    // git would follow a link that replaces a folder while it deletes.
    await removeTree(worktree.folder);
    const args = ["worktree", "remove", "--force", "--force", "--", worktree.folder];
    await git({ folder: commonDir, gitDir: commonDir, user }, args);
  } catch (cause) {
    if (!(cause instanceof GitFailed)) throw cause;
    throw keeps(folder, lastLine(cause), cause);
  }
  if (head !== undefined && branch.startsWith("refs/heads/tandem/")) {
    await dropIfMerged({ folder: commonDir, gitDir: commonDir, user }, branch, head);
  }
}

/** git refuses the same. */
async function refuseLocked({ folder, gitDir, ...rest }: Repository, isPrepared: boolean): Promise<void> {
  if (await stat(join(gitDir, "locked")).catch(() => undefined)) throw keeps(folder, "it is locked");
  if (!isPrepared && (await listNested({ folder, gitDir, ...rest })).length > 0) {
    throw keeps(folder, "it has submodules, whose commits may exist nowhere else");
  }
}

/** Resolves a name to its commit, and branch if it is one. The name itself is never passed on. */
async function startingPoint(
  repository: Repository,
  name: string | undefined,
): Promise<{ commit: string; from: string | undefined }> {
  const { folder } = repository;
  if (name === undefined) {
    const head = await resolveRef(repository, "HEAD");
    if (head !== undefined) return { commit: head, from: await currentBranch(repository) };
    throw new RequestError(
      "invalid_request",
      `The git repository ${folder} is empty: it has no commit to start from.`,
      { fix: "Make a first commit." },
    );
  }
  await checkBranchName(repository, name);
  const places = [`refs/heads/${name}`, `refs/tags/${name}`, `refs/remotes/${name}`, `refs/remotes/origin/${name}`];
  for (const ref of /^[0-9a-f]{7,64}$/.test(name) ? [...places, name] : places) {
    const commit = await resolveRef(repository, ref);
    if (commit !== undefined) return { commit, from: ref === places[0] ? name : undefined };
  }
  throw new RequestError("invalid_request", `The git repository ${folder} has no branch, tag or commit ${name}.`, {
    fix: "Name one that git branch --all or git tag lists.",
  });
}

async function checkBranchName(place: GitPlace, name: string): Promise<void> {
  // git accepts a leading dash as a name here, but as an option elsewhere.
  const isFit = !name.startsWith("-") && !name.includes("\0");
  if (isFit && (await runGit(place, ["check-ref-format", `refs/heads/${name}`])).exitCode === 0) return;
  throw new RequestError("invalid_request", `${JSON.stringify(name)} cannot be the name of a git branch.`);
}

async function refuseTaken(repository: Repository, branch: string, into: string): Promise<void> {
  const isThere = await stat(into).then(
    () => true,
    () => false,
  );
  if (isThere) throw new RequestError("conflict", `${into} is there already.`);
  for (const taken of ["tandem", branch]) {
    if ((await resolveRef(repository, `refs/heads/${taken}`)) === undefined) continue;
    throw new RequestError("conflict", `The git repository ${repository.folder} has a branch ${taken} already.`, {
      fix: `Rename it: git branch -m ${taken} NAME.`,
    });
  }
}

export async function resolveRef(place: GitPlace, ref: string): Promise<string | undefined> {
  const { exitCode, stdout } = await runGit(place, [
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
  const refs = await git(repository, ["for-each-ref", "--count=1", "--contains", head]);
  if (refs === "") throw keeps(folder, `the commit ${head.slice(0, 12)} is on no branch`);
}

/** Deletes our branch if another ref contains its commits. */
async function dropIfMerged(place: GitPlace, branch: string, head: string): Promise<void> {
  const refs = await git(place, ["for-each-ref", "--format=%(refname)", "--contains", head]);
  const others = refs.split("\n").filter((ref) => ref !== "" && ref !== branch);
  // Only if it has not moved since (compare-and-swap).
  if (others.length > 0) await git(place, ["update-ref", "-d", branch, head]);
}

/** Cleans up after a failed attempt. */
async function takeBack(repository: Repository, into: string, branch: string, commit: string): Promise<void> {
  await removeTree(into);
  await runGit(repository, ["worktree", "prune"]);
  await runGit(repository, ["update-ref", "-d", `refs/heads/${branch}`, commit]);
}

const keeps = (folder: string, why: string, cause?: unknown): RequestError =>
  new RequestError("conflict", `The worktree ${folder} is kept: ${why}.`, {
    fix: "Commit the changes, or allow Tandem to discard them.",
    cause,
  });

const lastLine = ({ stderr }: GitFailed): string => stderr.trim().split("\n").at(-1) ?? "";
