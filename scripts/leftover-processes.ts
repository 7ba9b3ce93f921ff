import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const GONE_MS = 10_000;
const TICKS_PER_SECOND = 100;

export interface LeftoverProcess {
  pid: number;
  command: string;
  folder: string;
  startedAt: number;
}

/**
 * Processes that outlive the tests that started them, found by a folder of the run in their environment, arguments or
 * working folder. A process that is about to exit gets a moment to do so. Linux only: elsewhere it finds none.
 */
export async function findLeftoverProcesses(folder: string, patienceMs = GONE_MS): Promise<LeftoverProcess[]> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const found = process.platform === "linux" ? processesOf(folder) : [];
    if (found.length === 0 || Date.now() > deadline) return found;
    await sleep(100);
  }
}

function processesOf(folder: string): LeftoverProcess[] {
  const bootedAt = Number(/^btime (\d+)$/m.exec(readFileSync("/proc/stat", "utf8"))?.[1]) * 1_000;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const read = (file: string): string => readFileSync(`/proc/${name}/${file}`, "utf8");
        const [command, cwd] = [read("cmdline").replaceAll("\0", " ").trim(), readlinkSync(`/proc/${name}/cwd`)];
        if (![read("environ"), command, cwd].some((text) => text.includes(folder))) return [];
        const stat = read("stat");
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        if (fields[0] === "Z") return [];
        const startedAt = bootedAt + (Number(fields[19]) / TICKS_PER_SECOND) * 1_000;
        return [{ pid: Number(name), command, folder: cwd, startedAt }];
      } catch {
        // The process has exited, or belongs to another user.
        return [];
      }
    });
}
