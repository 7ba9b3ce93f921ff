import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";

const NICENESS = 10;

/** Lets others have the processor before a child. */
export function lowerPriority(pid: number): void {
  try {
    setPriority(pid, NICENESS);
    // On a Linux without control groups, a child that leads its own session is weighed as a group, by this number alone.
    if (process.platform === "linux") writeFileSync(`/proc/${pid}/autogroup`, String(NICENESS));
  } catch {
    // It has ended already, or the kernel knows no such groups: then it is one among equals.
  }
}
