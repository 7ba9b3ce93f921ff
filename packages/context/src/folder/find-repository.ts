import { RequestError } from "@tandem/protocol";
import { git, GitFailed } from "@tandem/workspace";
import { realpath } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const TRIES = 20;
const PAUSE_MS = 100;

/** A repository for the context's history. */
export interface Repository {
  gitDir: string;
  /** In a repository of its own, its index follows our commits; in the project's, nothing but our ref moves. */
  isOwn: boolean;
}

/** The context's own repository, made if it is not there. The project's around it does not learn of it. */
export async function ownRepository(folder: string): Promise<Repository> {
  const found = await locate(folder);
  if (found?.top === folder) return { gitDir: found.gitDir, isOwn: true };
  for (let tries = 1; ; tries += 1) {
    try {
      await git(folder, ["init", "--quiet", "--initial-branch=main", "--template="]);
      // Bytes stay what they are, whatever the user's own settings say.
      await git(folder, ["config", "core.autocrlf", "false"]);
      return await ownRepository(folder);
    } catch (error) {
      // Another process makes it in this very moment.
      if (!(error instanceof GitFailed) || !error.stderr.includes("lock") || tries === TRIES) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

export async function projectRepository(folder: string): Promise<Repository> {
  const found = await locate(folder);
  if (found) return { gitDir: found.commonDir, isOwn: false };
  throw new RequestError("invalid_request", `${folder} is not in a git repository.`, {
    fix: "Run `git init` in the project, or set context.git to own.",
  });
}

async function locate(folder: string): Promise<{ top: string; gitDir: string; commonDir: string } | undefined> {
  try {
    const args = ["--path-format=absolute", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"];
    const lines = (await git(folder, ["rev-parse", ...args])).split("\n").filter((line) => line !== "");
    const [top = "", gitDir = "", commonDir = ""] = await Promise.all(lines.map((line) => realpath(line)));
    return { top, gitDir, commonDir };
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    if (error.stderr.includes("dubious ownership")) {
      throw new RequestError("forbidden", `The git repository of ${folder} belongs to another user.`, {
        fix: "Let it belong to the user that runs Tandem.",
        cause: error,
      });
    }
    return undefined;
  }
}
