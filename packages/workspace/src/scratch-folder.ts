import { mkdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { RequestError } from "@tandem/protocol";
import { removeTree } from "./remove-tree.ts";

/** Creates an owner-only folder in a base, creating the base if needed; returns its real path. */
export async function createScratchFolder(base: string, name: string): Promise<string> {
  if (name !== basename(name) || name === "." || name === ".." || name === "" || name.includes("\0")) {
    throw new RequestError("invalid_request", `${JSON.stringify(name)} cannot be the name of a folder.`);
  }
  await mkdir(base, { recursive: true, mode: 0o700 });
  const folder = join(await realpath(base), name);
  await mkdir(folder, { mode: 0o700 }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== "EEXIST") throw cause;
    throw new RequestError("conflict", `The folder ${folder} is there already.`, { cause });
  });
  return folder;
}

/** Removes a direct child of a base with its content; links are removed, not their targets. */
export async function removeFolder(base: string, folder: string): Promise<void> {
  const name = basename(folder);
  const [realBase, realParent] = await Promise.all([realpath(base), realpath(dirname(folder))]).catch(() => []);
  // Without the base there is nothing to remove.
  if (realBase === undefined) return;
  if (realParent !== realBase || name === ".." || name === "." || name === "") {
    throw new RequestError("forbidden", `${folder} is not right below ${base}, and is not removed.`);
  }
  await removeTree(join(realBase, name));
}
