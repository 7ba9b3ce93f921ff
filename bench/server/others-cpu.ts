import { readFileSync } from "node:fs";
import { treeCpuSeconds } from "../runtime/process-tree.ts";

/** What the rest of the machine has been doing: figures of a run in which that was much are worth little. */
export function othersCpuSeconds(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = readFileSync("/proc/stat", "utf8")
    .slice("cpu ".length, 200)
    .trim()
    .split(/\s+/)
    .map(Number);
  return (user + nice + system + irq + softirq) / 100 - treeCpuSeconds();
}
