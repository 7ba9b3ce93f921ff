import { dirname, join, resolve } from "node:path";
import { readSmallFile } from "../read-small-file.ts";

/** The checked-out branch of the folder's repository. Undefined without a repository or with a detached HEAD. */
export async function branchOf(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const head = await headOf(join(at, ".git"));
    if (head !== undefined) return /^ref: refs\/heads\/(.+)$/m.exec(head)?.[1]?.trim();
    if (at === dirname(at)) return undefined;
  }
}

/** Reads files instead of running git, because it is done at the end of every turn. */
async function headOf(git: string): Promise<string | undefined> {
  try {
    return await readSmallFile(join(git, "HEAD"));
  } catch {
    // A worktree has a file that names its git directory.
    const text = await readSmallFile(git).catch(() => "");
    const linked = /^gitdir: (.+)$/m.exec(text)?.[1]?.trim();
    return linked === undefined
      ? undefined
      : readSmallFile(join(resolve(dirname(git), linked), "HEAD")).catch(() => "");
  }
}
