import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const TICKS_PER_SECOND = 100;

/** What a process holds at this moment, by the books of the system. Linux only: /proc. */
export interface Vitals {
  rssMb: number;
  /** Its share of memory: what several processes use counts in parts. */
  pssMb: number;
  /** The most that it has ever held. */
  peakMb: number;
  fds: number;
  threads: number;
  /** With those of its children that have ended. */
  cpuSeconds: number;
}

export function vitalsOf(pid: number): Vitals {
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

/** Pids of all that descend from a process. */
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

/** Pids of all that work in a folder or under it, whoever's children they are by now. */
export const processesIn = (folder: string): number[] =>
  processes().filter((pid) => {
    try {
      const place = readlinkSync(`/proc/${pid}/cwd`);
      return place === folder || place.startsWith(`${folder}/`);
    } catch {
      // Gone, or not ours to look at.
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
    // The name before it may hold anything.
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
