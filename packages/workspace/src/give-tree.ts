import { constants, lchown, lstat, open, readdir, stat, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";

export interface Owner {
  uid: number;
  gid: number;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** A pipe in place of the file must not block the open. */
const FILE = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/**
 * Gives files that belong to this process' user to another one, with everything below. For a server that is root and writes into the folder
 * of a user's programs. Folders and files are opened without following links, so that a program that replaces one by a link gets nothing
 * else. Files with several names stay: another name may be elsewhere.
 */
export async function giveTree(path: string, owner: Owner): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return;
  if (!found.isDirectory()) return give(path, owner);
  const folder = await openAs(path, FOLDER);
  if (!folder) return;
  try {
    await giveAll(folder, owner);
  } finally {
    await folder.close();
  }
}

/** Gives a new file or folder of a server that is root to the owner of the folder that it is in, with everything below. */
export async function giveToFolderOwner(path: string, handle?: FileHandle): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const owner = await stat(dirname(path));
  if (owner.uid === 0) return;
  if (handle) await handle.chown(owner.uid, owner.gid);
  else await giveTree(path, owner);
}

async function giveAll(folder: FileHandle, owner: Owner): Promise<void> {
  if ((await folder.stat()).uid === process.getuid?.()) await folder.chown(owner.uid, owner.gid);
  const place = `/proc/self/fd/${folder.fd}`;
  for (const entry of await readdir(place, { withFileTypes: true })) {
    const path = join(place, entry.name);
    const inner = entry.isDirectory() ? await openAs(path, FOLDER) : undefined;
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
  if (!found.isFile()) {
    return lchown(path, uid, gid).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
  }
  const file = await openAs(path, FILE);
  if (!file) return;
  try {
    // Another file may have replaced the one that was checked.
    const opened = await file.stat();
    if (opened.isFile() && opened.nlink === 1 && opened.uid === process.getuid?.()) await file.chown(uid, gid);
  } finally {
    await file.close();
  }
}

const openAs = (path: string, flags: number): Promise<FileHandle | undefined> =>
  open(path, flags).catch(() => undefined);
