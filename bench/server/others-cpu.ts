import { readFileSync } from "node:fs";
import { treeCpuSeconds } from "../runtime/process-tree.ts";

/** CPU time of other processes. If it was high, the figures of the run are unreliable. */
export function othersCpuSeconds(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = readFileSync("/proc/stat", "utf8")
    .slice("cpu ".length, 200)
    .trim()
    .split(/\s+/)
    .map(Number);
  return (user + nice + system + irq + softirq) / 100 - treeCpuSeconds();
}
