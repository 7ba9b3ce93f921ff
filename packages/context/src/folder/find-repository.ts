import { RequestError } from "@tandem/protocol";
import { git, GitFailed } from "@tandem/workspace";
import { realpath } from "node:fs/promises";
import { retryGit } from "./retry-git.ts";

/** The git repository of the context's history. */
export interface Repository {
  gitDir: string;
  /** `sha1` or `sha256`. */
  objectFormat: string;
  /** In its own repository, the index follows our commits; in the project's, only our ref moves. */
  isOwn: boolean;
}

/** The context's own repository, created if needed. The surrounding project repository is not affected. */
export async function ownRepository(folder: string): Promise<Repository> {
  const found = await locate(folder);
  if (found?.top === folder) return { gitDir: found.gitDir, objectFormat: found.objectFormat, isOwn: true };
  // Race: another process may be creating it right now.
  return retryGit(
    async () => {
      await git(folder, ["init", "--quiet", "--initial-branch=main", "--template="]);
      // Store bytes unchanged, whatever the user's settings.
      await git(folder, ["config", "core.autocrlf", "false"]);
      return await ownRepository(folder);
    },
    ({ stderr }) => stderr.includes("lock"),
  );
}

export async function projectRepository(folder: string): Promise<Repository> {
  const found = await locate(folder);
  if (found) return { gitDir: found.commonDir, objectFormat: found.objectFormat, isOwn: false };
  throw new RequestError("invalid_request", `${folder} is not in a git repository.`, {
    fix: "Run `git init` in the project, or set context.git to own.",
  });
}

interface Located {
  top: string;
  gitDir: string;
  commonDir: string;
  objectFormat: string;
}

async function locate(folder: string): Promise<Located | undefined> {
  try {
    const places = ["--path-format=absolute", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"];
    const output = await git(folder, ["rev-parse", "--show-object-format", ...places]);
    const [objectFormat = "", ...lines] = output.split("\n").filter((line) => line !== "");
    const [top = "", gitDir = "", commonDir = ""] = await Promise.all(lines.map((line) => realpath(line)));
    return { top, gitDir, commonDir, objectFormat };
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
