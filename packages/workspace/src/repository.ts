import { lstat, readFile, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RequestError } from "@tandem/protocol";
import { git, GitFailed, runGit, type GitPlace } from "./git.ts";

const LIST_BYTES = 256 * 1_024 * 1_024;
const MAX_NESTED = 5;

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
  /**
   * Settings that disable the repository's filters and merge drivers: they are programs named in a file that a session
   * can write. So Git LFS files stay pointers, and files with a merge driver conflict. git also looks into submodules, so
   * the filters of nested repositories are disabled, too.
   */
  quiet: Readonly<Record<string, string>>;
}

/** Opens the repository with this top folder; rejects anything else with the reason. */
export async function openRepository(path: string): Promise<Repository> {
  const folder = await realpath(path).catch((cause: unknown) => {
    throw new RequestError("invalid_request", `The folder ${path} does not exist.`, { cause });
  });
  const [top = "", gitDir = "", commonDir = ""] = await revParse(folder);
  if (top !== folder) {
    throw new RequestError("invalid_request", `${folder} is not the top folder of its git repository; ${top} is.`, {
      fix: "Name the top folder instead.",
    });
  }
  const isLinked = gitDir !== commonDir;
  if (isLinked ? !(await isWorktreeOf(commonDir, gitDir, folder)) : gitDir !== join(folder, ".git")) {
    // Otherwise a file named .git, or one in .git, would expose any repository of the machine through an allowed folder.
    throw new RequestError("forbidden", `${folder} has its git history in ${commonDir}, which does not know of it.`, {
      fix: "Name a folder that git clone, git init or git worktree add has made.",
    });
  }
  return { folder, gitDir, commonDir, isLinked, quiet: await quietPrograms({ folder, gitDir }, folder) };
}

async function revParse(folder: string): Promise<string[]> {
  try {
    const args = ["--path-format=absolute", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"];
    const lines = (await git(folder, ["rev-parse", ...args])).split("\n").filter((line) => line !== "");
    return await Promise.all(lines.map((line) => realpath(line)));
  } catch (cause) {
    if (!(cause instanceof GitFailed)) throw cause;
    if (cause.stderr.includes("dubious ownership")) {
      throw new RequestError("forbidden", `The git repository ${folder} belongs to another user.`, {
        fix: "Let it belong to the user that runs the server.",
        cause,
      });
    }
    if (cause.stderr.includes("must be run in a work tree")) {
      throw new RequestError("invalid_request", `${folder} is a bare git repository, without files.`, { cause });
    }
    throw new RequestError("invalid_request", `${folder} is not a git repository.`, {
      fix: "Run git init and make a commit there, or leave the isolation out.",
      cause,
    });
  }
}

async function isWorktreeOf(commonDir: string, gitDir: string, folder: string): Promise<boolean> {
  // A session can write both pointers into its own .git, but not into another repository.
  if (dirname(gitDir) !== join(commonDir, "worktrees")) return false;
  const back = await readFile(join(gitDir, "gitdir"), "utf8").catch(() => "");
  return (await realpath(back.trimEnd()).catch(() => undefined)) === join(folder, ".git");
}

async function quietPrograms(place: GitPlace, folder: string): Promise<Record<string, string>> {
  const names = `${await programNames(place)}${await nestedNames(place, folder)}`;
  const named = (kind: "filter" | "merge"): Set<string> =>
    new Set(names.split("\0").flatMap((name) => new RegExp(`^${kind}\\.(.*)\\.[^.]*$`, "s").exec(name)?.[1] ?? []));
  const filters = [...named("filter")].flatMap((name): [string, string][] => [
    [`filter.${name}.clean`, ""],
    [`filter.${name}.smudge`, ""],
    [`filter.${name}.process`, ""],
    [`filter.${name}.required`, "false"],
  ]);
  // Without a command, one side's file would win; a failing command makes it a conflict.
  const drivers = [...named("merge")].map((name): [string, string] => [`merge.${name}.driver`, "false"]);
  return Object.fromEntries([...filters, ...drivers]);
}

/** The names of settings with programs, each with a NUL after it. */
const programNames = (place: GitPlace): Promise<string> =>
  git(place, ["config", "--null", "--name-only", "--get-regexp", "^(filter|merge)\\."]).catch((error: unknown) => {
    // git reports "none" this way.
    if (error instanceof GitFailed && error.stderr === "") return "";
    throw error;
  });

/** Of the repositories below this one that its index or its last commit contains. */
async function nestedNames(place: GitPlace, folder: string, depth = 1): Promise<string> {
  const lists = await Promise.all([
    runGit(place, ["ls-files", "--stage", "-z"], { maxBytes: LIST_BYTES }),
    runGit(place, ["ls-tree", "-r", "-z", "--full-tree", "HEAD"], { maxBytes: LIST_BYTES }),
  ]);
  const entries = lists.flatMap(({ stdout }) => stdout.toString("utf8").split("\0"));
  const paths = new Set(entries.flatMap((entry) => /^160000 .*?\t(.+)$/s.exec(entry)?.[1] ?? []));
  let names = "";
  for (const path of paths) {
    const nested = join(folder, path);
    if (!(await lstat(join(nested, ".git")).catch(() => undefined))) continue;
    // Where git fails for us, it also fails when it looks into the submodule.
    names += await programNames(nested).catch(() => "");
    if (depth < MAX_NESTED) names += await nestedNames(nested, nested, depth + 1);
  }
  return names;
}
