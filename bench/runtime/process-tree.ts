import { readdirSync, readFileSync } from "node:fs";

const TICKS_PER_SECOND = 100;

/** This process and all that descend from it. Linux only: figures come from /proc. */
function descendants(): number[] {
  const parents = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const parent = Number(statFields(pid)?.[1]);
    parents.set(parent, [...(parents.get(parent) ?? []), pid]);
  }
  const found = [process.pid];
  for (const pid of found) found.push(...(parents.get(pid) ?? []));
  return found;
}

function statFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

/** CPU used by the tree so far, children that have ended included. */
export function treeCpuSeconds(): number {
  let ticks = 0;
  for (const pid of descendants()) {
    const fields = statFields(pid);
    for (const index of [11, 12, 13, 14]) ticks += Number(fields?.[index] ?? 0);
  }
  return ticks / TICKS_PER_SECOND;
}

/** Proportional share of memory of the tree below this process, in megabytes. */
export function treePssMb(): number {
  let kilobytes = 0;
  for (const pid of descendants().slice(1)) {
    try {
      kilobytes += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
    } catch {
      // It ended meanwhile.
    }
  }
  return kilobytes / 1_024;
}
