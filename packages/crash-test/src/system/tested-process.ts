import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { allProcesses, descendantsOf, listenerOn } from "../observer/process-table.ts";

export interface ProcessPlan {
  name: string;
  /** Clients connect to servers; workers only run sessions. */
  role: "server" | "worker";
  command: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** The port on 127.0.0.1; none for a worker without one. */
  port?: number;
  /** Resolves once it answers. Called again and again; a rejection means: not yet. */
  check: () => Promise<void>;
}

export interface UnwantedExit {
  detail: string;
  wasReady: boolean;
}

const CHECK_MS = 50;
const STOP_MS = 20_000;
/** Until the process has noticed that it is to live on. */
const DISARM_MS = 250;
const LAST_WORDS = 2_000;

/** One process of the tested server, which can be killed, paused and started again. */
export class TestedProcess {
  readonly plan: ProcessPlan;
  readonly #startMs: number;
  #child: ChildProcess | undefined;
  #words = "";
  #isWanted = false;
  isReady = false;
  onUnwantedExit: (exit: UnwantedExit) => void = () => undefined;
  /** The program of the next start. */
  command: ProcessPlan["command"];

  constructor(plan: ProcessPlan, startMs: number) {
    this.plan = plan;
    this.command = plan.command;
    this.#startMs = startMs;
  }

  get name(): string {
    return this.plan.name;
  }

  get pid(): number | undefined {
    const child = this.#child;
    return child && child.exitCode === null && child.signalCode === null ? child.pid : undefined;
  }

  /** The last output. */
  get words(): string {
    return this.#words.slice(-LAST_WORDS);
  }

  get #lastLine(): string {
    return this.words.trim().split("\n").at(-1) ?? "";
  }

  get url(): string {
    return `http://127.0.0.1:${this.plan.port}`;
  }

  /** Starts it, unless it runs: another fault may have been faster. */
  launch(): void {
    if (this.pid !== undefined) return;
    const [program, ...args] = this.command;
    const child = spawn(program, args, {
      cwd: this.plan.cwd,
      env: this.plan.env,
      stdio: ["ignore", "pipe", "pipe"],
      // In its own group: Ctrl-C reaches only this program, which then stops the server itself.
      detached: true,
    });
    this.#child = child;
    this.#isWanted = true;
    this.isReady = false;
    const hear = (chunk: Buffer): void =>
      void (this.#words = `${this.#words}${chunk.toString()}`.slice(-10 * LAST_WORDS));
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", (error) => hear(Buffer.from(error.message)));
    child.once("exit", (code, signal) => {
      if (this.#child !== child) return;
      const wasReady = this.isReady;
      this.isReady = false;
      if (this.#isWanted) this.onUnwantedExit({ detail: `${code ?? signal}: ${this.#lastLine}`, wasReady });
    });
  }

  /** Whether it answers within the deadline. */
  async waitUntilReady(signal: AbortSignal): Promise<boolean> {
    const deadline = Date.now() + this.#startMs;
    while (Date.now() < deadline && !signal.aborted && this.pid !== undefined) {
      try {
        await this.plan.check();
        this.isReady = true;
        return true;
      } catch {
        await sleep(CHECK_MS);
      }
    }
    return false;
  }

  /** Like a power cut: no handler runs. Its child processes survive. */
  async kill(): Promise<void> {
    this.#isWanted = false;
    this.isReady = false;
    const { pid } = this;
    if (pid === undefined) return;
    const listener = this.#listener();
    if (listener !== undefined && listener !== pid) send(listener, "SIGKILL");
    await this.#end("SIGKILL");
  }

  /** With all its descendants. */
  async killTree(): Promise<void> {
    const { pid } = this;
    const below = pid === undefined ? [] : descendantsOf(pid);
    const killed = this.kill();
    for (const one of below) send(one.pid, "SIGKILL");
    await killed;
  }

  /** Lets it end by its own hand. Returns whether it did so in time; otherwise, it lives on. */
  async endsBy(arm: (pid: number) => Promise<AsyncDisposable>, withinMs: number): Promise<boolean> {
    const child = this.#child;
    const pid = this.#listener() ?? this.pid;
    if (!child || pid === undefined) return false;
    const exited = once(child, "exit").then(() => true);
    this.#isWanted = false;
    const armed = await arm(pid);
    await Promise.race([exited, sleep(withinMs, undefined, { ref: false })]);
    await armed[Symbol.asyncDispose]();
    const isOut = await Promise.race([exited, sleep(DISARM_MS, false, { ref: false })]);
    this.#isWanted = !isOut;
    if (isOut) this.isReady = false;
    return isOut;
  }

  /** Asks it to stop, and kills it after a deadline. Returns its exit code; null if a signal has ended it. */
  async stop(): Promise<number | null> {
    this.#isWanted = false;
    this.isReady = false;
    const child = this.#child;
    if (this.pid === undefined || !child) return child?.exitCode ?? null;
    const exited = once(child, "exit");
    send(this.#listener() ?? child.pid!, "SIGTERM");
    const isOut = await Promise.race([exited.then(() => true), sleep(STOP_MS, false, { ref: false })]);
    if (!isOut) await this.#end("SIGKILL");
    return child.exitCode;
  }

  pause(): boolean {
    const pid = this.#listener() ?? this.pid;
    return pid !== undefined && send(pid, "SIGSTOP");
  }

  resume(): void {
    const pid = this.#listener() ?? this.pid;
    if (pid !== undefined) send(pid, "SIGCONT");
  }

  /** Descendants whose command line matches. */
  children(pattern: RegExp): number[] {
    const { pid } = this;
    if (pid === undefined) return [];
    return descendantsOf(pid).flatMap((one) => (pattern.test(one.command) ? [one.pid] : []));
  }

  /** The process that serves: the started one may be a wrapper such as `npm`. */
  #listener(): number | undefined {
    const { pid } = this;
    if (this.plan.port === undefined || pid === undefined) return undefined;
    const table = allProcesses();
    const own = [...table.filter((one) => one.pid === pid), ...descendantsOf(pid, table)];
    return listenerOn(this.plan.port, own)?.pid;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child || this.pid === undefined) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
