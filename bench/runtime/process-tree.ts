import { descendantsOf, processStats, type ProcessStats } from "../../apps/cli/src/testing/process-stats.ts";

/** CPU used by a process and its exited children so far. Linux only: /proc. */
export const cpuSeconds = (pid: number): number => read(pid, (stats) => stats.cpuSeconds);

/** The same of a process and its descendants. */
export const treeCpuSeconds = (root = process.pid): number =>
  [root, ...descendantsOf(root)].reduce((sum, pid) => sum + cpuSeconds(pid), 0);

/** Proportional set size of the given processes in MiB. Default: all descendants of this process. */
export const pssMb = (pids: readonly number[] = descendantsOf(process.pid)): number =>
  pids.reduce((sum, pid) => sum + read(pid, (stats) => stats.pssMb), 0);

/** Proportional set size of a process and its descendants in MiB. */
export const treePssMb = (root: number): number => pssMb([root, ...descendantsOf(root)]);

function read(pid: number, of: (stats: ProcessStats) => number): number {
  try {
    return of(processStats(pid));
  } catch {
    // The process has exited.
    return 0;
  }
}
