import { chown, mkdtemp, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Owner } from "../give-tree.ts";

/**
 * The OS user that runs git in a folder, if this process is root and the folder belongs to another user, such as that of a tenant. git then
 * reaches no file that the owner cannot reach, whatever the repository contains. Undefined if that user cannot reach one of the paths.
 */
export async function gitUser(folder: string, ...others: readonly string[]): Promise<Owner | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = await stat(folder);
  if (uid === 0) return undefined;
  const owner = { uid, gid };
  for (const path of [folder, ...others]) if (!(await canEnter(path, owner))) return undefined;
  return owner;
}

/**
 * Whether a user can pass through a folder and those above it. Folders of the user count as open: a tenant that closes its own one must not
 * get git as root.
 */
async function canEnter(path: string, { uid, gid }: Owner): Promise<boolean> {
  for (let at = path; ; at = dirname(at)) {
    const found = await stat(at).catch(() => undefined);
    if (!found) return false;
    const right = found.gid === gid ? 0o010 : 0o001;
    if (found.uid !== uid && (found.mode & right) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

/** A new folder for temporary files that git reads or writes as this user. */
export async function makeTemporary(prefix: string, user: Owner | undefined): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  if (user) await chown(folder, user.uid, user.gid);
  return folder;
}
