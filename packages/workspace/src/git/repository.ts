import { lstat, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { RequestError } from "@tandem/protocol";
import { gitUser } from "./git-user.ts";
import type { Owner } from "../give-tree.ts";
import { isInside } from "../inside/is-inside.ts";
import { readSmallFile } from "../read-small-file.ts";
import { makeView } from "./repository-view.ts";

/** A git folder whose history really belongs to it. */
export interface Repository {
  /** Top folder, a real path. */
  folder: string;
  /** The git directory of this folder. */
  gitDir: string;
  /** The git directory shared by all worktrees. */
  commonDir: string;
  /** Whether it is a linked worktree, which may be removed. */
  isLinked: boolean;
  /** git's common directory, asked with our settings, so that git runs no program of the repository. */
  view: string;
  /** The OS user that runs git, if this process is root and the folder belongs to another user. */
  user: Owner | undefined;
}

/** Opens the repository with this top folder; rejects anything else with the reason. Runs no git there. */
export async function openRepository(path: string): Promise<Repository> {
  const folder = await realpath(path).catch((cause: unknown) => {
    throw new RequestError("invalid_request", `The folder ${path} does not exist.`, { cause });
  });
  const top = await topFolderOf(folder);
  if (top === undefined) {
    if (await isBare(folder)) {
      throw new RequestError("invalid_request", `${folder} is a bare git repository, without files.`);
    }
    throw new RequestError("invalid_request", `${folder} is not a git repository.`, {
      fix: "Run git init and make a commit there, or leave the isolation out.",
    });
  }
  if (top !== folder) {
    throw new RequestError("invalid_request", `${folder} is not the top folder of its git repository; ${top} is.`, {
      fix: "Name the top folder instead.",
    });
  }
  return openAt(folder);
}

/** The repository that a folder is in, for reading; undefined if there is none, or none that may be used. */
export async function findRepository(folder: string): Promise<Repository | undefined> {
  const top = await topFolderOf(folder);
  if (top === undefined) return undefined;
  return openAt(top).catch((error: unknown) => {
    if (error instanceof RequestError) return undefined;
    throw error;
  });
}

/** Opens a repository that another one contains as a submodule; undefined if its history is not in one of the two. */
export async function openNested(outer: Repository, path: string): Promise<Repository | undefined> {
  const folder = join(outer.folder, path);
  if ((await realpath(folder).catch(() => undefined)) !== folder) return undefined;
  const gitDir = await gitDirOf(folder);
  if (gitDir === undefined) return undefined;
  const places = [folder, join(outer.commonDir, "modules"), join(outer.gitDir, "modules")];
  if (!places.some((place) => isInside(place, gitDir)) || (await commonDirOf(gitDir)) !== gitDir) return undefined;
  const { user } = outer;
  const view = await makeView({ gitDir, commonDir: gitDir, user }).catch(() => undefined);
  return view === undefined ? undefined : { folder, gitDir, commonDir: gitDir, isLinked: false, view, user };
}

async function openAt(folder: string): Promise<Repository> {
  await refuseForeign(folder);
  const gitDir = await gitDirOf(folder);
  const commonDir = gitDir && (await commonDirOf(gitDir));
  if (gitDir === undefined || commonDir === undefined || !(await isGitDir(commonDir))) {
    throw new RequestError("invalid_request", `${folder} is not a git repository.`, {
      fix: "Run git init and make a commit there, or leave the isolation out.",
    });
  }
  const isLinked = gitDir !== commonDir;
  if (isLinked ? !(await isWorktreeOf(commonDir, gitDir, folder)) : gitDir !== join(folder, ".git")) {
    // Otherwise a file named .git, or one in .git, would expose any repository of the machine through an allowed folder.
    throw new RequestError("forbidden", `${folder} has its git history in ${commonDir}, which does not know of it.`, {
      fix: "Name a folder that git clone, git init or git worktree add has made.",
    });
  }
  const user = await gitUser(folder, gitDir, commonDir);
  return { folder, gitDir, commonDir, isLinked, view: await makeView({ gitDir, commonDir, user }), user };
}

/** The nearest folder with a `.git`, from this one up to the root. */
async function topFolderOf(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    if (await lstat(join(at, ".git")).catch(() => undefined)) return at;
    if (at === dirname(at)) return undefined;
  }
}

/** The real path of the git directory that `.git` is or names. */
async function gitDirOf(folder: string): Promise<string | undefined> {
  const path = join(folder, ".git");
  const named = (await lstat(path).catch(() => undefined))?.isFile() ? await readPointer(path, "gitdir: ") : path;
  return named && realpath(resolve(folder, named)).catch(() => undefined);
}

async function commonDirOf(gitDir: string): Promise<string | undefined> {
  const path = join(gitDir, "commondir");
  if (!(await lstat(path).catch(() => undefined))) return gitDir;
  const named = await readPointer(path, "");
  return named && realpath(resolve(gitDir, named)).catch(() => undefined);
}

async function readPointer(path: string, prefix: string): Promise<string | undefined> {
  if (!(await lstat(path).catch(() => undefined))?.isFile()) return undefined;
  const text = (await readSmallFile(path).catch(() => "")).trimEnd();
  return text.startsWith(prefix) && text.length > prefix.length ? text.slice(prefix.length) : undefined;
}

async function isWorktreeOf(commonDir: string, gitDir: string, folder: string): Promise<boolean> {
  // A session can write both pointers into its own .git, but not into another repository.
  if (dirname(gitDir) !== join(commonDir, "worktrees")) return false;
  const back = await readPointer(join(gitDir, "gitdir"), "");
  return back !== undefined && (await realpath(resolve(gitDir, back)).catch(() => undefined)) === join(folder, ".git");
}

const isGitDir = async (path: string): Promise<boolean> => {
  const parts = ["HEAD", "objects", "refs"].map((name) => lstat(join(path, name)).catch(() => undefined));
  return (await Promise.all(parts)).every((found) => found !== undefined);
};

const isBare = (folder: string): Promise<boolean> => isGitDir(folder);

/** git makes the same check, unless the git directory is given. The administrator may use every folder. */
async function refuseForeign(folder: string): Promise<void> {
  const user = process.geteuid?.();
  if (user === undefined || user === 0) return;
  for (const path of [folder, join(folder, ".git")]) {
    if ((await stat(path).catch(() => undefined))?.uid === user) continue;
    throw new RequestError("forbidden", `The git repository ${folder} belongs to another user.`, {
      fix: "Let it belong to the user that runs the server.",
    });
  }
}
