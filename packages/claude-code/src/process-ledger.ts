import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TandemError } from "@tandem/protocol";
import { z } from "zod";

/** Time for a killed process to leave the process table before the sweep reports it as left. */
const GONE_DEADLINE_MS = 2_000;
/**
 * Stopped processes cannot fork. A second scan finds children forked during the first; a third is hardly ever needed.
 */
const MAX_ROUNDS = 8;

const ledgerEntry = z.object({
  // Not 1: signalling init's group would signal every process.
  pid: z.int().min(2),
  /** Distinguishes a process from a later one with the same pid. */
  startedAt: z.string(),
  hostPid: z.int().positive(),
  hostStartedAt: z.string(),
});
type LedgerEntry = z.infer<typeof ledgerEntry>;

export interface SweepResult {
  /** Orphaned process groups that were killed. */
  killed: number[];
  /** Those that did not exit. */
  left: number[];
}

/**
 * The child processes of this machine's Tandem hosts, one small file each. A crashed host leaves its files behind; the
 * next start kills the processes they name. Each child leads its own process group.
 */
export class ProcessLedger {
  readonly #folder: string;
  readonly #host: { hostPid: number; hostStartedAt: string };

  constructor(folder: string) {
    this.#folder = folder;
    this.#host = { hostPid: process.pid, hostStartedAt: startTime(process.pid) ?? "" };
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch (cause) {
      throw new TandemError("state_folder", `The folder ${folder} cannot be made: ${String(cause)}`, {
        fix: "Set TANDEM_HOME to a folder that can be written.",
        cause,
      });
    }
  }

  add(pid: number): void {
    const entry: LedgerEntry = { pid, startedAt: startTime(pid) ?? "", ...this.#host };
    // Atomic rename: a concurrent sweep must not read half a file and discard it.
    const draft = join(this.#folder, `.${pid}.draft`);
    writeFileSync(draft, JSON.stringify(entry), { mode: 0o600 });
    renameSync(draft, this.#file(pid));
  }

  /** Never throws: a later sweep removes the entry. */
  remove(pid: number): void {
    try {
      rmSync(this.#file(pid), { force: true });
    } catch {}
  }

  /** Kills orphans of dead hosts. Children of living hosts, including this one, are not touched. */
  async sweep(): Promise<SweepResult> {
    const result: SweepResult = { killed: [], left: [] };
    for (const entry of this.orphans()) {
      killGroup(entry.pid);
      const deadline = Date.now() + GONE_DEADLINE_MS;
      while (isSame(entry.pid, entry.startedAt) && Date.now() < deadline) await sleep(10);
      if (isSame(entry.pid, entry.startedAt)) {
        result.left.push(entry.pid);
      } else {
        result.killed.push(entry.pid);
        this.remove(entry.pid);
      }
    }
    return result;
  }

  /** Kills the children of a host that cannot do so itself. The entries stay for the host to remove. */
  endChildrenOf(hostPid: number): void {
    for (const name of readdirSync(this.#folder).filter((file) => /^\d+\.json$/.test(file))) {
      const entry = readEntry(join(this.#folder, name));
      if (entry?.hostPid === hostPid && isSame(entry.pid, entry.startedAt)) killGroup(entry.pid);
    }
  }

  /** Running children of dead hosts. Removes the entries of exited processes. */
  orphans(): LedgerEntry[] {
    const found: LedgerEntry[] = [];
    for (const name of readdirSync(this.#folder).filter((file) => /^\d+\.json$/.test(file))) {
      const entry = readEntry(join(this.#folder, name));
      if (entry && isSame(entry.hostPid, entry.hostStartedAt)) continue;
      if (entry && isSame(entry.pid, entry.startedAt)) found.push(entry);
      else rmSync(join(this.#folder, name), { force: true });
    }
    return found;
  }

  #file(pid: number): string {
    return join(this.#folder, `${pid}.json`);
  }
}

/**
 * Signals a process group. SIGKILL also covers descendants in other groups: Claude Code runs each command in its own
 * group and cleans up only on a normal exit.
 */
export function killGroup(pid: number, signal: NodeJS.Signals = "SIGKILL"): void {
  const others = signal === "SIGKILL" ? haltDescendants(pid) : [];
  for (const target of [-pid, ...others]) send(target, signal);
}

/**
 * Sends SIGSTOP to the process group and its descendants, so that no process can fork new children. Returns the pids of
 * the descendants.
 */
export function haltDescendants(pid: number): number[] {
  send(-pid, "SIGSTOP");
  const halted = new Set<number>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const fresh = descendants(pid).filter((each) => !halted.has(each));
    if (fresh.length === 0) break;
    for (const each of fresh) {
      send(each, "SIGSTOP");
      halted.add(each);
    }
  }
  return [...halted];
}

export function send(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch (error) {
    // The process is gone, or on macOS a zombie, which cannot be signalled.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
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
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return pids.flatMap((pid) => {
      const parent = statFields(Number(pid))?.[1];
      return parent === undefined ? [] : [[Number(pid), Number(parent)]];
    });
  } catch {
    return [];
  }
}

function readEntry(file: string): LedgerEntry | undefined {
  try {
    return ledgerEntry.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    // A foreign file, or another format.
    return undefined;
  }
}

const isSame = (pid: number, startedAt: string): boolean => startTime(pid) === startedAt;

/** Start time of a process, in the system's format; undefined if it does not exist or is a zombie. */
function startTime(pid: number): string | undefined {
  try {
    if (process.platform === "linux") {
      const fields = statFields(pid);
      return !fields || fields[0] === "Z" ? undefined : `${bootId()} ${fields[19]}`;
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
