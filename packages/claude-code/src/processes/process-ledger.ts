import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TandemError } from "@tandem/protocol";
import { z } from "zod";
import { guard } from "./guardian.ts";
import { isSame, killTree, markedProcesses, sendSignal, startTime } from "./process-tree.ts";

/** Time for a killed process to leave the process table before the sweep reports it as left. */
const GONE_DEADLINE_MS = 2_000;

const ledgerEntry = z.object({
  // Not 1: signalling init's group would signal every process.
  pid: z.int().min(2),
  /** Distinguishes a process from a later one with the same pid. */
  startedAt: z.string(),
  hostPid: z.int().positive(),
  hostStartedAt: z.string(),
  /** Finds its descendants. */
  marker: z.string().optional(),
  /** The init of its pid namespace, which can outlive it. */
  init: z.object({ pid: z.int().min(2), startedAt: z.string() }).optional(),
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
 * next start kills the processes they name, with their descendants. Each child leads its own process group.
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

  /** Before a child starts without a pid namespace: a guardian must end it if this process dies. */
  guard(): void {
    guard(this.#folder);
  }

  /** Records a child, or what became known of it since. */
  add(pid: number, more: Pick<LedgerEntry, "marker" | "init"> = {}): void {
    const entry: LedgerEntry = { pid, startedAt: startTime(pid) ?? "", ...this.#host, ...more };
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
      const deadline = performance.now() + GONE_DEADLINE_MS;
      killEntry(entry);
      while (isRunning(entry) && performance.now() < deadline) await sleep(10);
      if (isRunning(entry)) {
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
      if (entry?.hostPid === hostPid) killEntry(entry);
    }
  }

  /** Running children of dead hosts. Removes the entries of exited processes. */
  orphans(): LedgerEntry[] {
    const found: LedgerEntry[] = [];
    for (const name of readdirSync(this.#folder).filter((file) => /^\d+\.json$/.test(file))) {
      const entry = readEntry(join(this.#folder, name));
      if (entry && isSame(entry.hostPid, entry.hostStartedAt)) continue;
      if (entry && isRunning(entry)) found.push(entry);
      else rmSync(join(this.#folder, name), { force: true });
    }
    return found;
  }

  #file(pid: number): string {
    return join(this.#folder, `${pid}.json`);
  }
}

const isRunning = ({ pid, startedAt, marker, init }: LedgerEntry): boolean =>
  isSame(pid, startedAt) ||
  (init !== undefined && isSame(init.pid, init.startedAt)) ||
  markedProcesses(marker).length > 0;

/** If the process itself has exited, its pid may belong to another one by now. */
function killEntry({ pid, startedAt, marker, init }: LedgerEntry): void {
  if (init && isSame(init.pid, init.startedAt)) sendSignal(init.pid, "SIGKILL");
  killTree(isSame(pid, startedAt) ? pid : undefined, marker);
}

function readEntry(file: string): LedgerEntry | undefined {
  try {
    return ledgerEntry.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    // A foreign file, or another format.
    return undefined;
  }
}
