import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/**
 * Stopped processes cannot fork. A second scan finds children forked during the first; a third is hardly ever needed.
 */
const MAX_ROUNDS = 8;

/** Set in children and inherited by their descendants, which are found by it on Linux. A sandbox clears it for its programs. */
export const MARKER_VARIABLE = "TANDEM_PROCESS";

/** Begins the markers of all children of this process, so that its guardian finds them. */
export const HOST_MARKER: string = crypto.randomUUID();
export const newMarker = (): string => `${HOST_MARKER}.${crypto.randomUUID()}`;

/**
 * Kills a process group leader with its group and descendants. Claude Code runs each command in its own group and cleans
 * up only on a normal exit, and a command can leave the tree with `setsid`. `marker` finds those that have left it, also
 * without `pid`.
 */
export function killTree(pid: number | undefined, marker?: string): void {
  const halted = haltTree(pid, marker);
  for (const target of [...(pid === undefined ? [] : [-pid]), ...halted]) sendSignal(target, "SIGKILL");
}

/**
 * Sends SIGSTOP to the process group and its descendants, so that no process can fork new children. Returns the pids of
 * the descendants.
 */
export function haltTree(pid: number | undefined, marker: string | undefined): number[] {
  if (pid !== undefined) sendSignal(-pid, "SIGSTOP");
  const halted = new Set<number>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const found = new Set([...(pid === undefined ? [] : descendants(pid)), ...markedProcesses(marker)]);
    const fresh = [...found].filter((each) => !halted.has(each));
    if (fresh.length === 0) break;
    for (const each of fresh) {
      sendSignal(each, "SIGSTOP");
      halted.add(each);
    }
  }
  return [...halted];
}

export function sendSignal(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch (error) {
    // The process is gone, or on macOS a zombie, which cannot be signalled.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

/** Living processes that inherited the marker, or one that it begins. Only Linux shows the environment of others. */
export function markedProcesses(marker: string | undefined): number[] {
  if (marker === undefined || process.platform !== "linux") return [];
  const entry = `${MARKER_VARIABLE}=${marker}`;
  const isMarked = (environ: string): boolean =>
    [`${entry}.`, `${entry}\0`].some((text) => environ.startsWith(text) || environ.includes(`\0${text}`));
  return allPids().filter((pid) => {
    try {
      return pid !== process.pid && isMarked(readFileSync(`/proc/${pid}/environ`, "latin1")) && isAlive(pid);
    } catch {
      // The process has exited, or belongs to another user.
      return false;
    }
  });
}

/** All living descendants of a process. */
function descendants(pid: number): number[] {
  const children = Map.groupBy(parents(), ([, parent]) => parent);
  const found: number[] = [];
  for (let next = [pid]; next.length > 0;) {
    next = next.flatMap((parent) => children.get(parent)?.map(([child]) => child) ?? []);
    found.push(...next);
  }
  return found;
}

/** Every process of the machine with its parent. */
function parents(): [pid: number, parent: number][] {
  try {
    if (process.platform !== "linux") {
      const table = execFileSync("ps", ["-axo", "pid=,ppid="], { encoding: "utf8", timeout: 5_000 });
      return table.split("\n").map((row) => row.trim().split(/\s+/).map(Number) as [number, number]);
    }
    return allPids().flatMap((pid) => {
      const parent = statFields(pid)?.[1];
      return parent === undefined ? [] : [[pid, Number(parent)]];
    });
  } catch {
    return [];
  }
}

const allPids = (): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

const isAlive = (pid: number): boolean => startTime(pid) !== undefined;

export const isSame = (pid: number, startedAt: string): boolean => startTime(pid) === startedAt;

/** Start time of a process, in the system's format; undefined if it does not exist or is a zombie. */
export function startTime(pid: number): string | undefined {
  try {
    if (process.platform === "linux") {
      const fields = statFields(pid);
      return !fields || fields[0] === "Z" || fields[0] === "X" ? undefined : `${bootId()} ${fields[19]}`;
    }
    // Fixed locale and time zone, so that the text is comparable.
    const env = { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" };
    const line = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
      encoding: "utf8",
      timeout: 5_000,
      env,
    }).trim();
    return line.startsWith("Z") ? undefined : line.replace(/^\S+\s+/, "");
  } catch {
    return undefined;
  }
}

/** Fields of /proc/PID/stat after the process name: state, parent and so on. */
function statFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

/** Start times count from boot, so they are comparable only within one boot. */
const bootId = (): string => (boot ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
let boot: string | undefined;
