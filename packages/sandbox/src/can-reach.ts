import { statSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import type { OsUser } from "./sandbox-plan.ts";

const [READ, EXECUTE] = [4, 1];

/** Whether another user, without further groups, can read a path. The server's own rights say nothing about it. */
export function canReach(path: string, user: OsUser): boolean {
  return canPass(dirname(path), user) && hasRight(path, user, READ);
}

/** Whether another user, without further groups, can use paths below a folder. */
export function canPass(folder: string, user: OsUser): boolean {
  return hasRight(folder, user, EXECUTE) && (folder === "/" || canPass(dirname(folder), user));
}

function hasRight(path: string, user: OsUser, right: number): boolean {
  if (user.uid === 0) return true;
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && (rights(found, user) & right) !== 0;
}

const rights = ({ mode, uid, gid }: Stats, user: OsUser): number =>
  uid === user.uid ? mode >> 6 : gid === user.gid ? mode >> 3 : mode;
