import { chown, lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OsUser } from "@tandem/sandbox";

/** A socket's path has at most about 100 bytes, so a deep TANDEM_HOME or TMPDIR is no place for one. */
const MAX_PARENT = 40;
const PREFIX = "tandem-sandbox-";
const NAME = new RegExp(`^${PREFIX}(\\d+)-`);

/** A folder with a short path for the sockets of one sandbox. Only this user can enter it, or the one of the plan. */
export async function openSocketFolder(user?: OsUser): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(parentFolder(), `${PREFIX}${process.pid}-`));
  if (user) await chown(path, user.uid, user.gid);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Deletes the folders of processes that have ended without doing so. */
export async function sweepSocketFolders(): Promise<void> {
  const parent = parentFolder();
  for (const name of await readdir(parent).catch(() => [])) {
    const pid = Number(NAME.exec(name)?.[1]);
    if (!pid || isAlive(pid)) continue;
    const folder = join(parent, name);
    const found = await lstat(folder).catch(() => undefined);
    if (found?.isDirectory() && found.uid === process.getuid?.()) await rm(folder, { recursive: true, force: true });
  }
}

const parentFolder = (): string => (tmpdir().length <= MAX_PARENT ? tmpdir() : "/tmp");

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
