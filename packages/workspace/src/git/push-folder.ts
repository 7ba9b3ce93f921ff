import { randomUUID } from "node:crypto";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RequestError } from "@tandem/protocol";
import { git, GitFailed, runGit, type GitOptions, type GitPlace, type GitToken } from "./git.ts";
import { gitUser } from "./git-user.ts";
import { giveTree } from "../give-tree.ts";
import { openRepository } from "./repository.ts";

/** For many files over a slow network. */
const PUSH_MS = 10 * 60_000;
const LIST_BYTES = 256 * 1_024 * 1_024;

export interface Person {
  name: string;
  email: string;
}

export interface FolderPush {
  /** The top folder of a git repository, a real path. */
  folder: string;
  /** An existing folder for temporary files. */
  scratch: string;
  remote: { url: string; protocol: "https" | "http"; token: GitToken };
  /** Variables that reach the network, such as a proxy. */
  variables: Readonly<Record<string, string | undefined>>;
  branch: string;
  message: string;
  author: Person;
  /** The commit that an earlier push made on the same branch. */
  previous?: string | undefined;
  signal?: AbortSignal;
}

type GitFolders = Exclude<GitPlace, string>;

/**
 * Commits the folder's present files, and pushes the commit to a branch of a remote. The folder's own branch, index and
 * settings stay as they are: the commit is made in a repository of our own, which only borrows the folder's objects. So
 * neither hooks, filters nor a redirected remote in the folder's settings can get hold of the token.
 */
export async function pushFolder(push: FolderPush): Promise<{ commit: string; isChanged: boolean }> {
  const repository = await openRepository(push.folder);
  if (repository.folder !== push.folder) throw new RequestError("forbidden", `${push.folder} is a link.`);
  const own = join(push.scratch, `push-${randomUUID()}`);
  const user = repository.user && (await gitUser(repository.folder, push.scratch));
  const place: GitFolders = { folder: repository.folder, gitDir: join(own, "git"), user };
  try {
    await prepare(own, place.gitDir, repository.commonDir);
    if (user) await giveTree(own, user);
    const options: GitOptions = {
      indexFile: join(own, "index"),
      ...(push.signal && { signal: push.signal }),
      settings: { "core.autocrlf": "false", "user.name": push.author.name, "user.email": push.author.email },
    };
    const head = (await git(repository, ["rev-parse", "--verify", "--end-of-options", "HEAD^{commit}"])).trim();
    await git(place, ["read-tree", head], options);
    await leaveOutNested(place, options);
    await git(place, ["add", "--all", "--", "."], { ...options, timeoutMs: PUSH_MS });
    const tree = (await git(place, ["write-tree"], options)).trim();
    const parents = await parentsOf(place, head, push, options);
    const before = (await git(place, ["rev-parse", `${parents[0]}^{tree}`], options)).trim();
    const isChanged = before !== tree || parents.length > 1;
    const named = parents.flatMap((parent) => ["-p", parent]);
    const commit = isChanged
      ? (await git(place, ["commit-tree", tree, ...named], { ...options, input: push.message })).trim()
      : parents[0]!;
    const args = ["push", "--quiet", "--no-verify", "--", push.remote.url, `${commit}:refs/heads/${push.branch}`];
    await reach(push, "pushed", () => git(place, args, { ...options, ...outside(push) }));
    return { commit, isChanged };
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

async function prepare(own: string, gitDir: string, commonDir: string): Promise<void> {
  await mkdir(own, { mode: 0o700 });
  await git(own, ["init", "--quiet", "--bare", "--template=", gitDir]);
  await mkdir(join(gitDir, "objects", "info"), { recursive: true });
  await writeFile(join(gitDir, "objects", "info", "alternates"), `${join(commonDir, "objects")}\n`);
  await mkdir(join(gitDir, "info"), { recursive: true });
  const exclude = join(commonDir, "info", "exclude");
  await symlink(exclude, join(gitDir, "info", "exclude"));
}

/**
 * Keeps the commits of submodules. To see whether one has changed, git would look into its folder, and run the filters in
 * that repository's settings, which a session can write.
 */
async function leaveOutNested(place: GitFolders, options: GitOptions): Promise<void> {
  const listed = await git(place, ["ls-files", "--stage", "-z"], { ...options, maxBytes: LIST_BYTES });
  const nested = listed.split("\0").flatMap((line) => /^160000 .*?\t(.+)$/s.exec(line)?.[1] ?? []);
  if (nested.length === 0) return;
  const input = nested.map((path) => `${path}\0`).join("");
  await git(place, ["update-index", "-z", "--skip-worktree", "--stdin"], { ...options, input });
}

/** A later push continues from the earlier one, and from commits made in the folder since then. */
async function parentsOf(place: GitFolders, head: string, push: FolderPush, options: GitOptions): Promise<string[]> {
  const { previous, branch } = push;
  if (previous === undefined) return [head];
  await reach(push, "read", () =>
    git(place, ["fetch", "--quiet", "--no-tags", "--", push.remote.url, `refs/heads/${branch}:refs/heads/tip`], {
      ...options,
      ...outside(push),
    }),
  );
  const tip = (await git(place, ["rev-parse", "refs/heads/tip"], options)).trim();
  if (tip !== previous) {
    throw new RequestError("conflict", `The branch ${branch} has a commit of another author.`, {
      fix: "Push to another branch.",
    });
  }
  const base = (await runGit(place, ["merge-base", head, previous], options)).stdout.toString().trim();
  return base === head ? [previous] : [previous, head];
}

const outside = ({ remote, variables }: FolderPush): Pick<GitOptions, "timeoutMs" | "outside"> => ({
  timeoutMs: PUSH_MS,
  outside: { protocols: [remote.protocol], variables, token: remote.token },
});

async function reach(
  { remote, branch }: FolderPush,
  verb: "pushed" | "read",
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (!(cause instanceof GitFailed)) throw cause;
    throw new RequestError("unavailable", `${branch} could not be ${verb} at ${remote.url}: ${reasonOf(cause)}`, {
      fix: "Check that the bot's token may write to the repository, and that the branch has no other commits.",
      cause,
    });
  }
}

const reasonOf = ({ stderr }: GitFailed): string =>
  stderr
    .trim()
    .split("\n")
    .findLast((line) => /fatal|error|rejected/.test(line)) ?? "no message";
