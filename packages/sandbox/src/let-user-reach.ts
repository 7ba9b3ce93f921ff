import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  openSync,
  readdirSync,
} from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { isBelow } from "./check-destinations.ts";
import type { OsUser } from "./sandbox-plan.ts";

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Folders that a server, as root, has made for the programs of another user. No running program may write in them, except in `owned`. */
export interface UserFolders {
  user: OsUser;
  /** The folder that they are in. */
  base: string;
  /** The user gets the folder itself. */
  owned: readonly string[];
  /** The user gets everything in them. */
  given: readonly string[];
  /** The user can read everything in them. All tenants have one group, so that a right of the group would be one of all. */
  read: readonly string[];
}

/** Bubblewrap runs as the user of its plan, so that user needs a way to each mounted folder. */
export function letUserReach({ user, base, owned, given, read }: UserFolders): void {
  if (process.getuid?.() !== 0) return;
  for (const path of [...owned, ...given, ...read]) if (isBelow(path, base)) letPass(base, dirname(path), user);
  for (const path of owned) if (lstatSync(path).uid === 0) lchownSync(path, user.uid, user.gid);
  for (const path of given) give(path, user);
  for (const path of read) letRead(path, user);
}

/**
 * Lets the user's group pass through the folders from `base` to `path`. It ends at the first folder of the user: what is below is the user's
 * own business, and may be replaced by links at any time.
 */
export function letPass(base: string, path: string, { uid, gid }: OsUser): void {
  const steps = relative(base, path)
    .split(sep)
    .filter((step) => step !== "");
  let folder = openSync(base, FOLDER);
  try {
    for (const step of [".", ...steps]) {
      const next = openSync(`/proc/self/fd/${folder}/${step}`, FOLDER);
      closeSync(folder);
      folder = next;
      const found = fstatSync(folder);
      if (found.uid === uid) return;
      if (found.gid === gid && (found.mode & 0o010) !== 0) continue;
      fchownSync(folder, found.uid, gid);
      fchmodSync(folder, (found.mode & 0o777) | 0o010);
    }
  } finally {
    closeSync(folder);
  }
}

function give(path: string, user: OsUser): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found || (found.isFile() && found.nlink > 1)) return;
  if (found.uid === 0) lchownSync(path, user.uid, user.gid);
  if (found.isDirectory()) for (const name of readdirSync(path)) give(join(path, name), user);
}

function letRead(path: string, user: OsUser): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found || !(found.isDirectory() || found.isFile())) return;
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    if (found.uid === 0) fchownSync(descriptor, user.uid, user.gid);
  } finally {
    closeSync(descriptor);
  }
  if (found.isDirectory()) for (const name of readdirSync(path)) letRead(join(path, name), user);
}
