import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TandemError } from "@tandem/protocol";
import { z } from "zod";

/** How long a killed process may take to leave the process table before the sweep reports it as left over. */
const GONE_DEADLINE_MS = 2_000;
/** What is halted starts nothing more: a second look finds what was being started at the first, and hardly ever a third. */
const MOST_ROUNDS = 8;

const ledgerEntry = z.object({
  // Not 1: the group of init is everybody.
  pid: z.int().min(2),
  /** Tells a process from a later one that got the same pid. */
  startedAt: z.string(),
  hostPid: z.int().positive(),
  hostStartedAt: z.string(),
});
type LedgerEntry = z.infer<typeof ledgerEntry>;

export interface SweepResult {
  /** Process groups of dead hosts that were still running and have been killed. */
  killed: number[];
  /** Those that would not die. */
  left: number[];
}

/**
 * The child processes of this machine's Tandem hosts, one small file each. A host that dies without cleaning up leaves
 * its files behind, and the next start sweeps what they name. Each child leads a process group of its own.
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
    // In one piece: another host's sweep must not read half of it and take it for a leftover.
    const draft = join(this.#folder, `.${pid}.draft`);
    writeFileSync(draft, JSON.stringify(entry), { mode: 0o600 });
    renameSync(draft, this.#file(pid));
  }

  /** Never throws: what cannot be removed now is forgotten by a later sweep. */
  remove(pid: number): void {
    try {
      rmSync(this.#file(pid), { force: true });
    } catch {}
  }

  /** Ends what dead hosts have left behind. Children of living hosts, this one's included, are not touched. */
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

  /** Ends the children of a host that cannot do so itself. It forgets them when it can again. */
  endChildrenOf(hostPid: number): void {
    for (const name of readdirSync(this.#folder).filter((file) => /^\d+\.json$/.test(file))) {
      const entry = readEntry(join(this.#folder, name));
      if (entry?.hostPid === hostPid && isSame(entry.pid, entry.startedAt)) killGroup(entry.pid);
    }
  }

  /** Running children of dead hosts. Entries of processes that are gone are forgotten on the way. */
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
 * Signals a whole process group. A kill also ends what its processes have started elsewhere: Claude Code runs each command
 * in a group of its own, and ends it only if it is asked to end itself.
 */
export function killGroup(pid: number, signal: NodeJS.Signals = "SIGKILL"): void {
  const others = signal === "SIGKILL" ? haltedDescendants(pid) : [];
  for (const target of [-pid, ...others]) send(target, signal);
}

/** Halts a group and all that it has started, and says what that is. What runs on could start something behind our back. */
function haltedDescendants(pid: number): number[] {
  send(-pid, "SIGSTOP");
  const halted = new Set<number>();
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const fresh = descendants(pid).filter((each) => !halted.has(each));
    if (fresh.length === 0) break;
    for (const each of fresh) {
      send(each, "SIGSTOP");
      halted.add(each);
    }
  }
  return [...halted];
}

function send(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch (error) {
    // Gone, or on macOS only its corpse is left, which may not be signalled.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

/** What a process has started, and what that has started, as far as it still belongs to it. */
function descendants(pid: number): number[] {
  const children = Map.groupBy(parents(), ([, parent]) => parent);
  const found: number[] = [];
  for (let next = [pid]; next.length > 0;) {
    next = next.flatMap((parent) => children.get(parent)?.map(([child]) => child) ?? []);
    found.push(...next);
  }
  return found;
}

/** Every process of the machine with its parent, as far as the system tells. */
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
    // Not one of ours, or of a version that wrote otherwise.
    return undefined;
  }
}

const isSame = (pid: number, startedAt: string): boolean => startTime(pid) === startedAt;

/** When a process started, in whatever form the system tells it; undefined if there is none, or only its corpse. */
function startTime(pid: number): string | undefined {
  try {
    if (process.platform === "linux") {
      const fields = statFields(pid);
      return !fields || fields[0] === "Z" ? undefined : `${bootId()} ${fields[19]}`;
    }
    // The same words for the same moment, whatever the host's language and time zone.
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

/** What Linux tells of a process after its name: its state, its parent and so on. */
function statFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

/** Start times count from the boot, so they mean something only together with it. */
const bootId = (): string => (boot ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
let boot: string | undefined;
