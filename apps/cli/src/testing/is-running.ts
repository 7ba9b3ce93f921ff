import { readFileSync } from "node:fs";

/** True if the process runs. A zombie does not count: in a container without an init, dead orphans remain as zombies. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return true;
  }
}
