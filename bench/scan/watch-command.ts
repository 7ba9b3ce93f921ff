import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { outcomeOf } from "../../apps/cli/src/testing/open-command.ts";

const LOOK_MS = 50;
const TICKS_PER_SECOND = 100;

export interface Watched {
  seconds: number;
  /** Of the command and of all that it started. */
  cpuSeconds: number;
  /** The most that the command itself held. */
  peakMb: number;
  /** The most that it and all that it started held at once. */
  treePeakMb: number;
  stdout: string;
  stderr: string;
}

/** Runs a command to its end, and measures it. Linux only: figures come from /proc. */
export async function watchCommand(child: ChildProcess): Promise<Watched> {
  const [began, cpuBefore] = [performance.now(), cpuOfEnded()];
  let [peak, treePeak] = [0, 0];
  const timer = setInterval(() => {
    peak = Math.max(peak, memoryOf(child.pid!, "VmHWM"));
    treePeak = Math.max(
      treePeak,
      tree(child.pid!).reduce((sum, pid) => sum + memoryOf(pid, "VmRSS"), 0),
    );
  }, LOOK_MS);
  child.stdin?.end();
  const { code, stdout, stderr } = await outcomeOf(child).finally(() => clearInterval(timer));
  if (code !== 0) throw new Error(`It ended with ${code}: ${stderr || stdout}`);
  return {
    seconds: (performance.now() - began) / 1_000,
    cpuSeconds: cpuOfEnded() - cpuBefore,
    peakMb: peak,
    treePeakMb: treePeak,
    stdout,
    stderr,
  };
}

/** Resources that ended children of this process used, including their descendants. */
export function cpuOfEnded(): number {
  const fields = statOf(process.pid) ?? [];
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

function tree(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const pid of readdirSync("/proc").map(Number).filter(Number.isInteger)) {
    const parent = Number(statOf(pid)?.[1]);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

function statOf(pid: number): string[] | undefined {
  const stat = readProc(pid, "stat");
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
}

const memoryOf = (pid: number, field: "VmHWM" | "VmRSS"): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(readProc(pid, "status") ?? "")?.[1] ?? 0) / 1_024;

/** Undefined if it has ended meanwhile. */
function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}
