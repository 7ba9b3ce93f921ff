import { randomUUID } from "node:crypto";
import { chown, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RequestError, TandemError } from "@tandem/protocol";
import { bringInside } from "../inside/change-inside.ts";
import { git, GitFailed, runGit, type GitOptions, type GitPlace, type GitToken } from "./git.ts";
import type { Owner } from "../give-tree.ts";
import { gitUser } from "./git-user.ts";
import { findRepository } from "./repository.ts";
import { readSmallFile } from "../read-small-file.ts";

/** The owner of a clone, in its git folder. */
const MARK = "tandem-resource";
const WATCH_MS = 500;
const LEFT_MS = 24 * 60 * 60 * 1_000;

export type CloneFailure = "authentication" | "forbidden" | "not_found" | "checkout" | "clone";

export class CloneFailed extends TandemError {
  readonly failure: CloneFailure;

  constructor(failure: CloneFailure, message: string, options: { fix?: string; cause?: unknown } = {}) {
    super("clone_failed", message, options);
    this.failure = failure;
  }
}

export interface RepositoryClone {
  /** A real path; `path` is relative to it. */
  root: string;
  path: string;
  /** A folder for unfinished clones that no session can write: another one in `root` could plant filters or links. */
  scratch: string;
  /** Recognises the clone later. */
  owner: string;
  remote: { url: string; protocol: "https" | "http" | "file"; token?: GitToken };
  checkout?: { type: "branch"; name: string } | { type: "commit"; sha: string } | null | undefined;
  /** Variables that reach the network, such as a proxy. */
  variables: Readonly<Record<string, string | undefined>>;
  /** Git's `http.curloptResolve`: the only address of the host. */
  address?: string;
  timeoutMs: number;
  /** Of the downloaded objects, and of the files that are checked out. */
  maxBytes: number;
  signal?: AbortSignal;
}

/**
 * Clones a repository into a folder, atomically. None of the user's git settings or credentials are used, and no hook or filter
 * runs, so files of Git LFS stay pointers. Submodules are not fetched. Rejects with `CloneFailed`. Returns the commit that is
 * checked out, or `none` in an empty repository.
 */
export async function cloneRepository(clone: RepositoryClone): Promise<{ commit: string }> {
  const { root, path, scratch } = clone;
  if (await stat(join(root, path)).catch(() => undefined)) {
    throw new CloneFailed("clone", `${path} is there already.`, { fix: "Choose another mount_path." });
  }
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  await removeLeft(scratch);
  const into = join(scratch, `clone-${randomUUID()}`);
  await mkdir(into);
  const user = await gitUser(root, scratch, ...(clone.remote.protocol === "file" ? [clone.remote.url] : []));
  if (user) await chown(into, user.uid, user.gid);
  try {
    const commit = await download(clone, into, user);
    await writeFile(join(into, ".git", MARK), `${clone.owner}\n`);
    await bringInside(root, into, path);
    return { commit };
  } catch (error) {
    throw failureOf(error, clone);
  } finally {
    await rm(into, { recursive: true, force: true });
  }
}

/** Removes clones of processes that were killed. */
async function removeLeft(scratch: string): Promise<void> {
  for (const name of await readdir(scratch)) {
    const path = join(scratch, name);
    const found = await stat(path).catch(() => undefined);
    if (found && found.mtimeMs < Date.now() - LEFT_MS) await rm(path, { recursive: true, force: true });
  }
}

/** The commit of a clone that `owner` has made before; undefined if there is none. */
export async function findClone(root: string, path: string, owner: string): Promise<string | undefined> {
  const folder = join(root, path);
  const mark = await readSmallFile(join(folder, ".git", MARK)).catch(() => "");
  const repository = mark.trim() === owner ? await findRepository(folder) : undefined;
  return repository?.folder === folder ? headOf(repository, undefined) : undefined;
}

async function download(clone: RepositoryClone, into: string, user: Owner | undefined): Promise<string> {
  const { url } = clone.remote;
  const { options, checkSize, stop } = watched(clone, into, user);
  const reach = { ...options, ...outside(clone) };
  try {
    const args = ["clone", "--quiet", "--no-checkout", "--no-local", "--template=", "--origin=origin", "--", url, "."];
    await git(into, args, reach);
    await checkSize();
    const target = await targetOf(clone, into, reach);
    if (target === undefined) return "none";
    await checkFiles(clone, into, target.commit, options);
    await git(into, ["checkout", "--quiet", ...target.args], options);
    return await headOf(into, user);
  } finally {
    stop();
  }
}

/** The argument of `git checkout` and its commit; undefined in an empty repository. */
async function targetOf(
  { checkout }: RepositoryClone,
  into: string,
  reach: GitOptions,
): Promise<{ args: string[]; commit: string } | undefined> {
  const commitOf = async (name: string): Promise<string | undefined> => {
    const { exitCode, stdout } = await runGit(into, ["rev-parse", "--verify", "--quiet", "--end-of-options", name], {
      user: reach.user,
    });
    return exitCode === 0 ? stdout.toString("utf8").trim() : undefined;
  };
  if (!checkout) {
    const commit = await commitOf("HEAD^{commit}");
    return commit === undefined ? undefined : { args: [], commit };
  }
  if (checkout.type === "branch") {
    const { name } = checkout;
    const commit = await commitOf(`refs/remotes/origin/${name}^{commit}`);
    if (commit === undefined) throw new CloneFailed("checkout", `There is no branch ${name} in the repository.`);
    return { args: ["-B", name, "--track", `origin/${name}`], commit };
  }
  const { sha } = checkout;
  let commit = await commitOf(`${sha}^{commit}`);
  if (commit === undefined && sha.length >= 40) {
    // A commit that no branch contains, such as that of a pull request.
    await runGit(into, ["fetch", "--quiet", "--no-tags", "--", "origin", sha], reach);
    commit = await commitOf(`${sha}^{commit}`);
  }
  if (commit === undefined) throw new CloneFailed("checkout", `There is no commit ${sha} in the repository.`);
  return { args: ["--detach", commit], commit };
}

/** A small download may contain very large files. */
async function checkFiles(clone: RepositoryClone, into: string, commit: string, options: GitOptions): Promise<void> {
  const listed = await git(into, ["ls-tree", "-r", "-l", "--full-tree", commit], {
    ...options,
    maxBytes: 256 * 1024 * 1024,
  });
  let total = 0;
  for (const line of listed.split("\n")) total += Number(/^\d+ blob \S+ +(\d+)\t/.exec(line)?.[1] ?? 0);
  if (total > clone.maxBytes) throw tooLarge(clone);
}

function watched(
  clone: RepositoryClone,
  into: string,
  user: Owner | undefined,
): { options: GitOptions; checkSize: () => Promise<void>; stop: () => void } {
  const over = new AbortController();
  const checkSize = async (): Promise<void> => {
    if ((await packBytes(into)) > clone.maxBytes) throw tooLarge(clone);
  };
  const timer = setInterval(() => void checkSize().catch((error: unknown) => over.abort(error)), WATCH_MS);
  const signal = clone.signal ? AbortSignal.any([clone.signal, over.signal]) : over.signal;
  return { options: { signal, timeoutMs: clone.timeoutMs, user }, checkSize, stop: () => clearInterval(timer) };
}

async function packBytes(into: string): Promise<number> {
  const folder = join(into, ".git", "objects", "pack");
  const names = await readdir(folder).catch(() => []);
  const sizes = names.map((name) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((total, size) => total + size, 0);
}

function outside({ remote, variables, address }: RepositoryClone): Pick<GitOptions, "outside" | "settings"> {
  return {
    settings: {
      "credential.helper": "",
      "http.followRedirects": "false",
      ...(address !== undefined && { "http.curloptResolve": address }),
    },
    outside: {
      protocols: [remote.protocol],
      variables: { ...variables, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", GIT_ASKPASS: "false" },
      ...(remote.token && { token: remote.token }),
    },
  };
}

const headOf = async (place: GitPlace, user: Owner | undefined): Promise<string> => {
  const { exitCode, stdout } = await runGit(place, ["rev-parse", "--verify", "--quiet", "HEAD"], { user });
  return exitCode === 0 ? stdout.toString("utf8").trim() : "none";
};

const tooLarge = ({ maxBytes, remote }: RepositoryClone): CloneFailed =>
  new CloneFailed("clone", `${remote.url} is larger than ${Math.round(maxBytes / 1024 / 1024)} MB.`, {
    fix: "Clone it yourself, and create an environment for that folder.",
  });

function failureOf(error: unknown, { remote }: RepositoryClone): unknown {
  if (error instanceof RequestError) return new CloneFailed("clone", error.message, { cause: error });
  if (!(error instanceof GitFailed)) return error;
  const { stderr } = error;
  const said = stderr
    .trim()
    .split("\n")
    .findLast((line) => /fatal|error|ERROR|remote:/.test(line));
  const failure = ((): CloneFailure => {
    if (/Authentication failed|could not read (Username|Password)|error: 401/.test(stderr)) return "authentication";
    if (/error: 403/.test(stderr)) return "forbidden";
    if (/not found|error: 404|does not exist|does not appear to be a git repository/.test(stderr)) return "not_found";
    return "clone";
  })();
  return new CloneFailed(failure, `${remote.url} could not be cloned: ${said ?? "git gives no reason"}`, {
    cause: error,
  });
}
