import { FrontDoor } from "@tandem/emulator/network";
import { TandemError } from "@tandem/protocol";
import { MetFaults } from "../faults/met-faults.ts";
import type { Violation } from "../invariants/invariant.ts";
import type { Acknowledgement, Outage } from "../operation-history.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { ClockStep } from "./clock-step.ts";
import type { SmallDisk } from "./small-disk.ts";
import { TestedProcess, type ProcessPlan, type UnwantedExit } from "./tested-process.ts";
import type { WriteKill } from "./write-kill.ts";

/** A fault that only some systems have, such as the death of their database. */
export interface ExtraFault {
  kind: string;
  description: string;
  /** No turn may fail and no process may end because of it. */
  sparesTurns?: boolean;
  /** Processes that are ready survive it. A start may fail. */
  sparesProcesses?: boolean;
  /** Resolves to false if it had no effect: then it does not count. */
  inject: (random: SeededRandom, system: TestedSystem) => Promise<boolean>;
}

export interface SystemPlan {
  /** Empty for a server that something else runs: then only its network has faults. */
  processes: readonly ProcessPlan[];
  /** The address of a server that something else runs, or of a load balancer in front of the processes. */
  url?: string;
  apiKey: () => string;
  /** The environment of sessions. Without it, one is created. */
  environment?: string;
  /** Fields of the environments that are created. */
  newEnvironments?: readonly object[];
  /** The command lines of the agent's processes. */
  childPattern: RegExp;
  disk: SmallDisk | string;
  clock: ClockStep | undefined;
  writes?: WriteKill;
  extraFaults?: readonly ExtraFault[];
  /** The names of workers that run a turn now. Faults prefer them. */
  busyWorkers?: () => Promise<readonly string[]>;
  /** How long a process of `childPattern` may outlive its server. Without it: until the end of the run. */
  longestOrphanMs?: number;
  /** Finds violations that only this system shows, such as those of its database. Called after it has stopped. */
  inspect?: (sessions: readonly string[], acknowledgements: readonly Acknowledgement[]) => Promise<Violation[]>;
  startMs: number;
}

const EXCUSED_MS = 10_000;

/** The server under test: its processes, and the proxies through which clients reach it. */
export class TestedSystem implements AsyncDisposable {
  readonly plan: SystemPlan;
  readonly processes: readonly TestedProcess[];
  readonly network = new MetFaults();
  readonly #doors = new Map<string, { process: TestedProcess | undefined; url: string }>();
  readonly #stack = new AsyncDisposableStack();
  readonly #signal: AbortSignal;
  /** Outages since the last call of `takeOutages`. */
  #outages: Outage[] = [];
  /** Processes may end by themselves: their disk is full or their database is away. */
  readonly #excuses = new Set<{ onlyStarts: boolean; until: number }>();
  #turn = 0;
  /** So many clients leave calls without an answer. */
  heldClients = 0;

  constructor(plan: SystemPlan, signal: AbortSignal) {
    this.plan = plan;
    this.#signal = signal;
    this.processes = plan.processes.map((one) => new TestedProcess(one, plan.startMs));
    for (const process of this.processes) process.onUnwantedExit = (exit) => void this.#replace(process, exit);
  }

  get servers(): TestedProcess[] {
    return this.processes.filter(({ plan }) => plan.role === "server");
  }

  get workers(): TestedProcess[] {
    return this.processes.filter(({ plan }) => plan.role === "worker");
  }

  /** Starts the first server alone, because it may create a schema; then all others. */
  async start(): Promise<void> {
    const [first, ...others] = this.processes;
    if (first) await this.#startFirst(first);
    await Promise.all(others.map((process) => this.#startFirst(process)));
    if (this.plan.url !== undefined) return this.#openDoor("server", this.plan.url, undefined);
    for (const process of this.servers) await this.#openDoor(process.name, process.url, process);
  }

  /** The address for the next request: of any server that is ready, if there is one. */
  url(): string {
    const doors = [...this.#doors.values()];
    const ready = doors.filter(({ process }) => process?.isReady ?? true);
    const usable = ready.length > 0 ? ready : doors;
    this.#turn += 1;
    return usable[this.#turn % usable.length]?.url ?? "";
  }

  /** Starts a process again after a fault. Returns whether it is ready. */
  async restart(process: TestedProcess): Promise<boolean> {
    process.launch();
    return this.ready(process);
  }

  async ready(process: TestedProcess): Promise<boolean> {
    if (await process.waitUntilReady(this.#signal)) return true;
    if (!this.#signal.aborted && process.pid !== undefined) this.#report(process, "did_not_start", process.words);
    return false;
  }

  /**
   * Processes may end by themselves until this is disposed, and for a moment longer: a failed start takes its time to end.
   * `onlyStarts`: those that were ready may not.
   */
  excuse({ onlyStarts = false } = {}): Disposable {
    const excuse = { onlyStarts, until: Infinity };
    this.#excuses.add(excuse);
    return { [Symbol.dispose]: () => void (excuse.until = Date.now() + EXCUSED_MS) };
  }

  takeOutages(): Outage[] {
    const outages = this.#outages;
    this.#outages = [];
    return outages;
  }

  /** Stops all processes as an operator would. */
  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.stop()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.processes.map((process) => process.kill()));
    await this.#stack.disposeAsync();
  }

  async #startFirst(process: TestedProcess): Promise<void> {
    process.launch();
    if (await process.waitUntilReady(this.#signal)) return;
    this.#signal.throwIfAborted();
    throw new TandemError("crash_test_start", `${process.name} did not become ready: ${process.words.trim()}`, {
      fix: "Run the command by hand with PORT set. It must serve GET /v1/agents on 127.0.0.1, or the path of --health.",
    });
  }

  async #openDoor(name: string, target: string, process: TestedProcess | undefined): Promise<void> {
    const door = this.#stack.use(new FrontDoor(this.network));
    door.passTo({ url: target });
    this.#doors.set(name, { process, url: await door.listen() });
  }

  /** A supervisor would start it again, too. */
  async #replace(process: TestedProcess, { detail, wasReady }: UnwantedExit): Promise<void> {
    if (this.#signal.aborted) return;
    const isExcused = [...this.#excuses].some(
      ({ onlyStarts, until }) => until > Date.now() && !(onlyStarts && wasReady),
    );
    if (!isExcused) this.#report(process, "ended_by_itself", detail);
    const deadline = Date.now() + this.plan.startMs;
    // Its disk or database may come back only after several tries.
    await new Promise((resolve) => setTimeout(resolve, 200));
    if (process.pid !== undefined || Date.now() > deadline) return;
    process.launch();
    await process.waitUntilReady(this.#signal);
  }

  #report(process: TestedProcess, type: Outage["type"], detail: string): void {
    this.#outages.push({ process: process.name, type, at: Date.now(), detail });
  }
}
