import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const LOOK_MS = 300;
/** Suspended processes do nothing: a worker without the database suspends its sessions before others take them over. */
const AT_REST = new Set(["T", "Z", "X"]);

/** Looks for sessions with running Claude Code processes on two machines at the same time. */
export class SessionTwins implements Disposable {
  readonly found = new Map<string, string>();
  readonly #folder: string;
  readonly #timer: NodeJS.Timeout;
  #before = new Set<string>();

  /** Looks at processes that work below this folder. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const running = readdirSync("/proc").flatMap((pid) => (/^\d+$/.test(pid) ? readClaude(pid, this.#folder) : []));
    const twins = new Set<string>();
    for (const [session, of] of Map.groupBy(running, (one) => one.session)) {
      if (new Set(of.map(({ machine }) => machine)).size < 2) continue;
      twins.add(session);
      // Seen twice: one of them may have been about to end.
      if (!this.#before.has(session)) continue;
      this.found.set(session, of.map(({ pid, machine }) => `${pid} in ${machine}`).join(", "));
    }
    this.#before = twins;
  }
}

function readClaude(pid: string, folder: string): { pid: string; session: string; machine: string }[] {
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    if (!/^[^\0]*\/claude\0/.test(line) || !readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)) return [];
    const session = /--(?:session-id|resume)[=\0]([^\0]+)/.exec(line)?.[1];
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const state = stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
    if (session === undefined || AT_REST.has(state)) return [];
    return [{ pid, session, machine: readlinkSync(`/proc/${pid}/ns/net`) }];
  } catch {
    // It has exited.
    return [];
  }
}
