import { randomUUID } from "node:crypto";
import { constants, lstat, open, readdir, rename, rm, rmdir, unlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Deeper folders are moved up first: every level keeps a descriptor open. */
const MAX_DEPTH = 64;
const ATTEMPTS = 5;
const RETRY_MS = 100;

/**
 * Removes a file, a link itself, or a folder with its content. A path that is gone is fine. Each folder is opened without
 * following links, and its entries are removed through its descriptor: an agent that replaces a folder by a link in the
 * meantime cannot make it remove files elsewhere. Only the parents of `path` must be trusted, or a descriptor's path.
 */
export async function removeTree(path: string): Promise<void> {
  if (process.platform !== "linux") return rm(path, { recursive: true, force: true });
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await removeOnce(path);
    } catch (error) {
      // A process that is about to end may still write there.
      if (codeOf(error) !== "ENOTEMPTY" || attempt === ATTEMPTS) throw error;
      await sleep(RETRY_MS * attempt);
    }
  }
}

async function removeOnce(path: string): Promise<void> {
  const folder = await openFolder(path);
  if (folder === undefined) return unlink(path).catch(ignoreMissing);
  try {
    await empty(folder, folder, 1);
  } finally {
    await folder.close();
  }
  await rmdir(path).catch(async (error: unknown) => {
    // Replaced by a link or a file in the meantime.
    if (codeOf(error) === "ENOTDIR") return unlink(path).catch(ignoreMissing);
    ignoreMissing(error);
  });
}

async function empty(folder: FileHandle, top: FileHandle, depth: number): Promise<void> {
  const place = placeOf(folder);
  for (const entry of await readdir(place, { withFileTypes: true })) {
    const path = join(place, entry.name);
    if (entry.isDirectory()) await removeFolder(path, folder, top, depth);
    else await withAccess(folder, () => unlink(path));
  }
}

async function removeFolder(path: string, parent: FileHandle, top: FileHandle, depth: number): Promise<void> {
  const folder = await openFolder(path);
  if (folder === undefined) return withAccess(parent, () => unlink(path));
  let moved: string | undefined;
  try {
    if (depth >= MAX_DEPTH) {
      moved = join(placeOf(top), `.tandem-${randomUUID()}`);
      await rename(path, moved);
      await empty(folder, folder, 1);
    } else {
      await empty(folder, top, depth + 1);
    }
  } finally {
    await folder.close();
  }
  await withAccess(parent, () => rmdir(moved ?? path));
}

/** Undefined if it is not a folder, or gone. */
async function openFolder(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    if (["ENOTDIR", "ELOOP", "ENOENT"].includes(codeOf(error) ?? "")) return undefined;
    if ((await lstat(path).catch(() => undefined)) === undefined) return undefined;
    throw error;
  }
}

/** Caches of package managers have read-only folders. */
async function withAccess(folder: FileHandle, change: () => Promise<void>): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (codeOf(error) !== "EACCES") return ignoreMissing(error);
    await folder.chmod(0o700);
    await change().catch(ignoreMissing);
  }
}

const placeOf = (handle: FileHandle): string => `/proc/self/fd/${handle.fd}`;

function ignoreMissing(error: unknown): void {
  if (codeOf(error) !== "ENOENT") throw error;
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error ? String(error.code) : undefined;
