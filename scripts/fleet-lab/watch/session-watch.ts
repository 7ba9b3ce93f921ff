import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { type LabProcess, ProcessSightings } from "./process-sightings.ts";

const LOOK_MS = 300;
const ENDED = new Set(["Z", "X"]);

const CLAUDE = /^[^\0]*\/claude\0/;
const CONVERSATION = /\0--(?:session-id|resume)[=\0]([^\0]+)/;
const SCRATCH = /\/scratch\/(sesn_[^/]+)/;
const WORKER = /^[^\0]*\/node\0.*\0up\0.*--as\0worker\0/;

/** Looks from outside at the workers and Claude Code processes of all machines. */
export class SessionWatch implements Disposable {
  readonly sightings = new ProcessSightings();
  readonly #folder: string;
  readonly #timer: NodeJS.Timeout;

  /** Looks at processes that work below this folder. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#timer = setInterval(() => this.look(), LOOK_MS);
    this.#timer.unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  look(): void {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    this.sightings.add(
      Date.now(),
      pids.flatMap((pid) => readProcess(pid, this.#folder)),
    );
  }
}

function readProcess(pid: string, folder: string): LabProcess[] {
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    const isWorker = WORKER.test(line);
    const conversation = CLAUDE.test(line) ? CONVERSATION.exec(line)?.[1] : undefined;
    const cwd = readlinkSync(`/proc/${pid}/cwd`);
    if ((!isWorker && conversation === undefined) || !cwd.startsWith(folder)) return [];
    const session = SCRATCH.exec(cwd)?.[1];
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const state = stat.charAt(stat.lastIndexOf(")") + 2);
    if (ENDED.has(state)) return [];
    return [{ pid, conversation, session, machine: readlinkSync(`/proc/${pid}/ns/net`) }];
  } catch {
    // It has exited.
    return [];
  }
}
