import { constants, lstat, mkdir, open, readlink, realpath, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RequestError } from "@tandem/protocol";
import { giveToFolderOwner } from "../give-tree.ts";
import { isInside } from "./is-inside.ts";

/**
 * Creates a new file inside a root, with its parent folders. Overwrites nothing and follows no link: if a parent was
 * replaced by a link during the write, the file is removed again. Returns its real path.
 */
export async function writeInside(
  root: string,
  path: string,
  content: Uint8Array | AsyncIterable<Uint8Array>,
  mode = 0o600,
): Promise<string> {
  if (path.includes("\0")) throw new RequestError("invalid_request", "A path cannot have a NUL in it.");
  const full = join(root, path);
  if (path.startsWith("/") || full === root || !isInside(root, full)) throw outside(path);
  if (/(^|\/)\.?$/.test(path)) throw notAFile(path);
  try {
    await makeFolders(root, dirname(full), path);
    return await writeNew(root, full, { content, mode }, path);
  } catch (error) {
    throw asWriteError(error, path);
  }
}

async function writeNew(
  root: string,
  full: string,
  { content, mode }: { content: Uint8Array | AsyncIterable<Uint8Array>; mode: number },
  path: string,
): Promise<string> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  await using handle = await open(full, flags, 0o600);
  const real = process.platform === "linux" ? await readlink(`/proc/self/fd/${handle.fd}`) : await realpath(full);
  try {
    if (!isInside(root, real)) throw outside(path);
    await handle.writeFile(content);
    await giveToFolderOwner(real, handle);
    if (mode !== 0o600) await handle.chmod(mode);
    return real;
  } catch (error) {
    await rm(real);
    throw error;
  }
}

/** One level at a time, so that no link in the path is followed. */
export async function makeFolders(root: string, folder: string, path: string): Promise<void> {
  if (folder === root) return;
  await makeFolders(root, dirname(folder), path);
  await mkdir(folder).then(
    () => giveToFolderOwner(folder),
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    },
  );
  const stats = await lstat(folder);
  if (stats.isSymbolicLink()) throw outside(path);
  if (!stats.isDirectory()) throw notAFile(path);
}

const notAFile = (path: string): RequestError =>
  new RequestError("invalid_request", `${JSON.stringify(path)} cannot be the path of a file.`);

export function asWriteError(error: unknown, path: string): unknown {
  if (error instanceof RequestError || !(error instanceof Error) || !("code" in error)) return error;
  const named = JSON.stringify(path);
  switch (error.code) {
    case "EEXIST":
      return new RequestError("conflict", `${named} is there already.`, { cause: error });
    case "ENOENT":
      return new RequestError("not_found", `There is no ${named} in the session's folder.`, { cause: error });
    case "ENOTEMPTY":
      return new RequestError("conflict", `The folder ${named} is not empty.`, {
        fix: "Delete it with recursive: true.",
        cause: error,
      });
    case "ENAMETOOLONG":
      return new RequestError("invalid_request", "The path is too long.", { cause: error });
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new RequestError("forbidden", `${named} cannot be written (${error.code}).`, { cause: error });
    case "ENOSPC":
    case "EDQUOT":
      return new RequestError("unavailable", `There is no room for ${named} on the disk.`, { cause: error });
    default:
      return error;
  }
}

const outside = (path: string): RequestError =>
  new RequestError("forbidden", `${JSON.stringify(path)} leads out of the session's folder.`);
