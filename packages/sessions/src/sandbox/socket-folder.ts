import { chmod, chown, lstat, mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OsUser } from "@tandem/sandbox";
import { isAlive, removeTree } from "@tandem/workspace";

/** A socket's path has at most about 100 bytes, so a deep TANDEM_HOME or TMPDIR is no place for one. */
const MAX_PARENT = 40;
const PREFIX = "tandem-sandbox-";
const NAME = new RegExp(`^${PREFIX}(\\d+)-`);

/** A folder with a short path for the sockets of one sandbox. Only this user can enter it, or the group of the plan's user. */
export async function openSocketFolder(user?: OsUser): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(parentFolder(), `${PREFIX}${process.pid}-`));
  if (user) {
    // It stays the server's, so that a later server can tell that it may delete it.
    await chown(path, process.getuid?.() ?? 0, user.gid);
    await chmod(path, 0o710);
  }
  return { path, [Symbol.asyncDispose]: () => removeTree(path) };
}

/** Deletes the folders of processes that have ended without doing so. */
export async function sweepSocketFolders(): Promise<void> {
  const parent = parentFolder();
  for (const name of await readdir(parent).catch(() => [])) {
    const pid = Number(NAME.exec(name)?.[1]);
    if (!pid || isAlive(pid)) continue;
    const folder = join(parent, name);
    const found = await lstat(folder).catch(() => undefined);
    if (found?.isDirectory() && found.uid === process.getuid?.()) await removeTree(folder);
  }
}

const parentFolder = (): string => (tmpdir().length <= MAX_PARENT ? tmpdir() : "/tmp");
