import { readFileSync } from "node:fs";
import { descendantsOf, processesIn } from "../../apps/cli/src/testing/process-stats.ts";

/** An orphaned Claude Code exits at its next read or write; the next start of its host ends it at the latest. */
const ORPHAN_MS = 15_000;

/** Repeatedly checks the Claude Code processes of a folder: each has a live host, and each session at most one. */
export class ClaudeWatch {
  readonly problems: string[] = [];
  longestOrphanMs = 0;
  mostProcesses = 0;
  readonly #folder: string;
  readonly #hosts: () => readonly number[];
  readonly #orphans = new Map<number, number>();
  readonly #told = new Set<string>();

  constructor(folder: string, hosts: () => readonly number[]) {
    this.#folder = folder;
    this.#hosts = hosts;
  }

  look(): void {
    const owned = new Set(this.#hosts().flatMap((pid) => [pid, ...descendantsOf(pid)]));
    const found = processesIn(this.#folder).flatMap((pid) => {
      const line = commandLine(pid);
      return line?.includes("--input-format") ? [{ pid, line, parent: parentOf(pid) }] : [];
    });
    // A child of Claude Code has its parent's command line until it execs.
    const claudes = found.filter(({ parent }) => !found.some(({ pid }) => pid === parent));
    this.mostProcesses = Math.max(this.mostProcesses, claudes.length);
    const now = Date.now();
    for (const pid of this.#orphans.keys())
      if (!claudes.some((claude) => claude.pid === pid)) this.#orphans.delete(pid);
    for (const { pid } of claudes.filter((claude) => !owned.has(claude.pid))) {
      const since = this.#orphans.get(pid) ?? now;
      this.#orphans.set(pid, since);
      this.longestOrphanMs = Math.max(this.longestOrphanMs, now - since);
      if (now - since > ORPHAN_MS)
        this.#tell(`Claude Code ${pid} runs without a host for ${now - since} ms`, `orphan ${pid}`);
    }
    const sessions = Map.groupBy(claudes, ({ line }) => /--(?:session-id|resume)[= ](\S+)/.exec(line)?.[1] ?? "");
    for (const [session, twins] of sessions) {
      const hosted = twins.filter(({ pid }) => session !== "" && owned.has(pid));
      if (hosted.length < 2) continue;
      const names = hosted.map(({ pid, parent }) => `${pid} of ${parent}`).join(", ");
      this.#tell(`session ${session} has processes ${names}`, session);
    }
  }

  /** Processes that remain after everything has stopped. */
  left(): number[] {
    return processesIn(this.#folder);
  }

  #tell(problem: string, key: string): void {
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.problems.push(problem);
  }
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}

function commandLine(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return undefined;
  }
}
