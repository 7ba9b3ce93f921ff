import { constants, lstat, mkdir, open, readlink, realpath, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RequestError } from "@tandem/protocol";
import { isInside } from "./is-inside.ts";

/**
 * Puts a new file into a root, with the folders on its way. Nothing that is there is overwritten, no link is followed: where
 * one was put on the way while we went, the file is taken away again. Returns its real path.
 */
export async function writeInside(root: string, path: string, content: Uint8Array): Promise<string> {
  if (path.includes("\0")) throw new RequestError("invalid_request", "A path cannot have a NUL in it.");
  const full = join(root, path);
  if (path.startsWith("/") || full === root || !isInside(root, full)) throw outside(path);
  await makeFolders(root, dirname(full), path);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(full, flags, 0o600).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== "EEXIST") throw cause;
    throw new RequestError("conflict", `${JSON.stringify(path)} is there already.`, { cause });
  });
  try {
    const real = process.platform === "linux" ? await readlink(`/proc/self/fd/${handle.fd}`) : await realpath(full);
    if (!isInside(root, real)) {
      await rm(real);
      throw outside(path);
    }
    await handle.writeFile(content);
    return real;
  } finally {
    await handle.close();
  }
}

/** One step at a time, so that no link on the way is followed unseen. */
async function makeFolders(root: string, folder: string, path: string): Promise<void> {
  if (folder === root) return;
  await makeFolders(root, dirname(folder), path);
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  if (!(await lstat(folder)).isDirectory()) throw outside(path);
}

const outside = (path: string): RequestError =>
  new RequestError("forbidden", `${JSON.stringify(path)} leads out of the session's folder.`);
