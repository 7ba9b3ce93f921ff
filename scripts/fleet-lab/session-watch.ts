import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const LOOK_MS = 300;
/** How long after its death a process may be seen, and how long before it was seen last. */
const END_MS = 2_000;
const UNSEEN_MS = 2_000;
/** Suspended processes do nothing: a worker without the database suspends its sessions before others take them over. */
const AT_REST = new Set(["T", "Z", "X"]);

const CLAUDE = /^[^\0]*\/claude\0/;
const WORKER = /^[^\0]*\/node\0.*\0up\0.*--as\0worker\0/;

interface LabProcess {
  pid: string;
  /** Claude Code's id of the conversation; undefined for a worker. */
  session: string | undefined;
  /** The network namespace. */
  machine: string;
}

interface Seen extends LabProcess {
  from: number;
  to: number;
}

/** Milliseconds from the death of a worker until the sessions that ran there had a process again. */
export interface TakeoverTimes {
  /** On another machine. */
  moved: number[];
  /** On the same machine, after its restart: their folder is there. */
  stayed: number[];
}

/** Looks from outside at the running Claude Code processes of all machines. */
export class SessionWatch implements Disposable {
  /** Sessions that had two running processes at the same time, and which. */
  readonly twins = new Map<string, string>();
  readonly #folder: string;
  readonly #timer: NodeJS.Timeout;
  readonly #seen = new Map<string, Seen>();
  #pairs = new Set<string>();

  /** Looks at processes that work below this folder. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  /** For the workers that died at these times. A session without a next turn has no next process. */
  takeoversAfter(deaths: readonly number[]): TakeoverTimes {
    const seen = [...this.#seen.values()].toSorted((a, b) => a.from - b.from);
    const times: TakeoverTimes = { moved: [], stayed: [] };
    for (const at of deaths) {
      const ended = seen.filter(({ from, to }) => from < at && to > at - UNSEEN_MS && to < at + END_MS);
      const machines = new Set(ended.filter(({ session }) => session === undefined).map(({ machine }) => machine));
      for (const { session, machine } of ended.filter(
        (one) => one.session !== undefined && machines.has(one.machine),
      )) {
        const next = seen.find((one) => one.session === session && one.from > at);
        if (next) times[next.machine === machine ? "stayed" : "moved"].push(next.from - at);
      }
    }
    return times;
  }

  #look(): void {
    const at = Date.now();
    const running = readdirSync("/proc").flatMap((pid) => (/^\d+$/.test(pid) ? readProcess(pid, this.#folder) : []));
    for (const one of running) {
      const key = `${one.pid} ${one.session}`;
      this.#seen.set(key, { ...one, from: this.#seen.get(key)?.from ?? at, to: at });
    }
    const pairs = new Set<string>();
    for (const [session, of] of Map.groupBy(running, (one) => one.session)) {
      if (session === undefined || of.length < 2) continue;
      const where = of.map(({ pid, machine }) => `${pid} in ${machine}`).join(", ");
      pairs.add(where);
      // Seen twice: one of them may have been about to end.
      if (this.#pairs.has(where)) this.twins.set(session, where);
    }
    this.#pairs = pairs;
  }
}

function readProcess(pid: string, folder: string): LabProcess[] {
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    const isWorker = WORKER.test(line);
    if ((!isWorker && !CLAUDE.test(line)) || !readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)) return [];
    const session = isWorker ? undefined : /--(?:session-id|resume)[=\0]([^\0]+)/.exec(line)?.[1];
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const state = stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
    if ((session === undefined && !isWorker) || AT_REST.has(state)) return [];
    return [{ pid, session, machine: readlinkSync(`/proc/${pid}/ns/net`) }];
  } catch {
    // It has exited.
    return [];
  }
}
