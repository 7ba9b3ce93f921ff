import { statSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import type { OsUser } from "./sandbox-plan.ts";

const [READ, EXECUTE] = [4, 1];

/** Whether another user, without further groups, can read a path. The server's own rights say nothing about it. */
export function canReach(path: string, user: OsUser): boolean {
  if (user.uid === 0) return true;
  try {
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      if ((rights(statSync(folder), user) & EXECUTE) === 0) return false;
      if (folder === "/") break;
    }
    return (rights(statSync(path), user) & READ) !== 0;
  } catch {
    return false;
  }
}

const rights = ({ mode, uid, gid }: Stats, user: OsUser): number =>
  uid === user.uid ? mode >> 6 : gid === user.gid ? mode >> 3 : mode;
