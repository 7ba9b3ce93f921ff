import { constants, lchown, lstat, open, readdir, type FileHandle } from "node:fs/promises";
import { join } from "node:path";

interface Owner {
  uid: number;
  gid: number;
}

/**
 * Gives files that belong to this process' user to another one, with everything below. For a server that is root and writes into the folder
 * of a user's programs. Folders are opened without following links, so that a program that replaces one by a link gets nothing else. Files
 * with several names stay: another name may be elsewhere.
 */
export async function giveTree(path: string, owner: Owner): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return;
  if (!found.isDirectory()) return give(path, owner);
  const folder = await openFolder(path);
  if (!folder) return;
  try {
    await giveAll(folder, owner);
  } finally {
    await folder.close();
  }
}

async function giveAll(folder: FileHandle, owner: Owner): Promise<void> {
  if ((await folder.stat()).uid === process.getuid?.()) await folder.chown(owner.uid, owner.gid);
  const place = `/proc/self/fd/${folder.fd}`;
  for (const entry of await readdir(place, { withFileTypes: true })) {
    const path = join(place, entry.name);
    const inner = entry.isDirectory() ? await openFolder(path) : undefined;
    if (!inner) {
      await give(path, owner);
      continue;
    }
    try {
      await giveAll(inner, owner);
    } finally {
      await inner.close();
    }
  }
}

async function give(path: string, { uid, gid }: Owner): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found || found.isDirectory() || found.nlink > 1 || found.uid !== process.getuid?.()) return;
  await lchown(path, uid, gid).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

const openFolder = (path: string): Promise<FileHandle | undefined> =>
  open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(() => undefined);
