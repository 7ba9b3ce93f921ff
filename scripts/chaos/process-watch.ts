import { readFileSync } from "node:fs";
import { descendantsOf, processesIn } from "../../apps/cli/src/testing/vitals.ts";

/** A Claude Code whose host is gone notices when it next reads or writes; the start of the next host ends it. */
const ORPHAN_MS = 15_000;

/** Looks, again and again, at the Claude Code processes of a folder: each has a living host, and each session one at most. */
export class ProcessWatch {
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
    const claudes = processesIn(this.#folder).flatMap((pid) => {
      const line = commandLine(pid);
      return line?.includes("--input-format") ? [{ pid, line }] : [];
    });
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
    for (const [session, found] of sessions) {
      if (session === "" || found.length < 2) continue;
      const hosted = found.filter(({ pid }) => owned.has(pid));
      if (hosted.length > 1)
        this.#tell(`session ${session} has processes ${found.map(({ pid }) => pid).join()}`, session);
    }
  }

  /** What is left when all has ended. */
  left(): number[] {
    return processesIn(this.#folder);
  }

  #tell(problem: string, key: string): void {
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.problems.push(problem);
  }
}

function commandLine(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return undefined;
  }
}
