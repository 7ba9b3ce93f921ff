import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const TICKS_PER_SECOND = 100;

/** The resources of a process. Linux only: /proc. */
export interface ProcessStats {
  rssMb: number;
  /** Proportional set size: shared memory counts in parts. */
  pssMb: number;
  /** Peak memory. */
  peakMb: number;
  fds: number;
  threads: number;
  /** Including exited children. */
  cpuSeconds: number;
}

export function processStats(pid: number): ProcessStats {
  const status = read(pid, "status");
  return {
    rssMb: kilobytes(status, "VmRSS") / 1024,
    pssMb: kilobytes(read(pid, "smaps_rollup"), "Pss") / 1024,
    peakMb: kilobytes(status, "VmHWM") / 1024,
    fds: readdirSync(`/proc/${pid}/fd`).length,
    threads: Number(/^Threads:\s+(\d+)/m.exec(status)?.[1]),
    cpuSeconds: cpuSeconds(pid),
  };
}

/** Pids of all descendants of a process. */
export function descendantsOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const other of processes()) {
    const parent = Number(statFields(other)?.[1]);
    children.set(parent, [...(children.get(parent) ?? []), other]);
  }
  const found = [pid];
  for (const one of found) found.push(...(children.get(one) ?? []));
  return found.slice(1);
}

/** Pids of all processes whose working folder is in `folder`, whatever their parent. */
export const processesIn = (folder: string): number[] =>
  processes().filter((pid) => {
    try {
      const place = readlinkSync(`/proc/${pid}/cwd`);
      return place === folder || place.startsWith(`${folder}/`);
    } catch {
      // The process has exited or belongs to another user.
      return false;
    }
  });

const processes = (): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

const read = (pid: number, name: string): string => readFileSync(`/proc/${pid}/${name}`, "utf8");

const kilobytes = (text: string, key: string): number =>
  Number(new RegExp(`^${key}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0);

function statFields(pid: number): string[] | undefined {
  try {
    const stat = read(pid, "stat");
    // The process name before `)` may contain any characters.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

function cpuSeconds(pid: number): number {
  const fields = statFields(pid) ?? [];
  const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index] ?? 0), 0);
  return ticks / TICKS_PER_SECOND;
}
