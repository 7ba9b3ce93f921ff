import { setTimeout as sleep } from "node:timers/promises";
import type { FaultRecord, History, SessionState } from "../history.ts";
import { hasProcessTable } from "../observer/process-table.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { TestedProcess } from "../system/tested-process.ts";
import type { TestedSystem } from "../system/tested-system.ts";
import type { SessionDriver } from "../workload/session-driver.ts";
import { FAULT_KINDS, isNetworkFault, type FaultKind, type NetworkFault } from "./fault-kinds.ts";
import { networkFault } from "./met-faults.ts";

export interface InjectorSettings {
  system: TestedSystem;
  history: History;
  random: SeededRandom;
  drivers: () => readonly SessionDriver[];
  signal: AbortSignal;
  /** Whether approvals are part of the workload. */
  hasApprovals: boolean;
}

/** How long a fault waits for a session in its state. */
const AIM_MS = 4_000;
const MEET_MS = 8_000;
/** A fault hits at a random moment of a state. */
const SPREAD_MS = 150;
const PAUSE_MS = 3_000;
const FULL_MS = 2_000;
const RESUME_MS = 900;
const HOUR_MS = 3_600_000;
const STEPS_MS = [HOUR_MS, -HOUR_MS, 60_000, -60_000, 0] as const;

/** Why a kind of fault cannot happen to a system; undefined if it can. */
export function skipReason(kind: string, system: TestedSystem, hasApprovals: boolean): string | undefined {
  const known = FAULT_KINDS.find((one) => one === kind);
  if (known === undefined || isNetworkFault(known)) return undefined;
  if (known === "two-answers") return hasApprovals ? undefined : "the workload has no approvals";
  if (system.processes.length === 0) return "a server at a URL has network faults only";
  const { disk, clock } = system.plan;
  if (known === "kill-worker") return system.workers.length > 0 ? undefined : "there is no worker: not a fleet";
  if (known === "kill-child") return hasProcessTable ? undefined : "this platform has no /proc";
  if (known === "disk-full") return typeof disk === "string" ? disk : undefined;
  if (known === "clock-step" && !clock?.isLoaded) return "the server does not run on Node, whose clock can be replaced";
  return undefined;
}

export class FaultInjector {
  readonly #settings: InjectorSettings;
  #doubleAnswers = 0;

  constructor(settings: InjectorSettings) {
    this.#settings = settings;
  }

  /** Whether the next approval gets two answers. */
  takeDoubleAnswer = (): boolean => {
    if (this.#doubleAnswers === 0) return false;
    this.#doubleAnswers -= 1;
    const at = Date.now();
    this.#record({ kind: "two-answers", state: "approval", from: at, to: at, hitsProcess: false });
    return true;
  };

  /** Injects a fault into a session in this state. Returns false if no occasion came. */
  async inject(kind: string, state: SessionState): Promise<boolean> {
    if (isNetworkFault(kind)) return this.#disturbNetwork(kind);
    if (kind === "two-answers") return this.#answerTwice();
    const actual = await this.#aim(state === "resuming" ? "model" : state);
    const extra = this.#settings.system.plan.extraFaults?.find((one) => one.kind === kind);
    const from = Date.now();
    const hit = extra
      ? await this.#excused(() => extra.inject(this.#settings.random))
      : await this.#hit(
          FAULT_KINDS.find((one) => one === kind)!,
          state,
        );
    if (!hit) return false;
    this.#record({ kind, state: state === "resuming" ? "resuming" : actual, from, to: Date.now(), hitsProcess: true });
    return true;
  }

  #hit(kind: FaultKind, state: SessionState): Promise<boolean> {
    switch (kind) {
      case "kill":
        return this.#restart("server", (process) => process.kill(), state);
      case "stop":
        return this.#restart("server", (process) => process.stop(), state);
      case "kill-worker":
        return this.#restart("worker", (process) => process.kill(), state);
      case "pause":
        return this.#pause();
      case "kill-child":
        return this.#killChild();
      case "disk-full":
        return this.#excused(() => this.#fillDisk());
      case "clock-step":
        return this.#stepClock();
      default:
        return Promise.resolve(false);
    }
  }

  /** Waits for a session in this state, then for a random moment. Returns the state that is hit. */
  async #aim(wanted: SessionState): Promise<SessionState> {
    const { drivers, signal, random } = this.#settings;
    const deadline = Date.now() + AIM_MS;
    while (Date.now() < deadline && !signal.aborted && !drivers().some(({ state }) => state === wanted))
      await sleep(10);
    const isThere = drivers().some(({ state }) => state === wanted);
    const state = isThere ? wanted : (drivers()[0]?.state ?? "idle");
    await sleep(random.between(0, SPREAD_MS));
    return state;
  }

  async #restart(
    role: "server" | "worker",
    end: (process: TestedProcess) => Promise<unknown>,
    state: SessionState,
  ): Promise<boolean> {
    const { system, random } = this.#settings;
    const process = this.#pick(role === "server" ? system.servers : system.workers);
    if (!process) return false;
    await end(process);
    if (state !== "resuming") return system.restart(process).then(() => true);
    // While the server continues its sessions, or while it still starts.
    process.launch();
    if (random.next() < 0.7) await system.ready(process);
    await sleep(random.between(0, RESUME_MS));
    await end(process);
    await system.restart(process);
    return true;
  }

  async #pause(): Promise<boolean> {
    const process = this.#pick(this.#settings.system.processes);
    if (!process?.pause()) return false;
    try {
      await sleep(this.#settings.random.between(100, PAUSE_MS));
    } finally {
      process.resume();
    }
    return true;
  }

  async #killChild(): Promise<boolean> {
    const { system } = this.#settings;
    const children = system.processes.flatMap((one) => one.children(system.plan.childPattern));
    const child = this.#pick(children);
    if (child === undefined) return false;
    try {
      process.kill(child, "SIGKILL");
    } catch {
      return false;
    }
    return true;
  }

  async #fillDisk(): Promise<void> {
    const { disk } = this.#settings.system.plan;
    if (typeof disk === "string") return;
    try {
      await disk.fill();
      await sleep(this.#settings.random.between(100, FULL_MS));
    } finally {
      await disk.free();
    }
  }

  /** Processes may end by themselves meanwhile. They are started again. */
  async #excused(fault: () => Promise<void>): Promise<boolean> {
    const { system, signal } = this.#settings;
    system.excuses += 1;
    try {
      await fault();
      for (const process of system.processes) {
        // A start that met the fault fails only afterwards.
        while (!signal.aborted && !(await process.waitUntilReady(signal))) {
          if (process.pid === undefined) process.launch();
        }
      }
    } finally {
      system.excuses -= 1;
    }
    return true;
  }

  async #stepClock(): Promise<boolean> {
    const { system, random } = this.#settings;
    await system.plan.clock?.moveTo(random.pick(STEPS_MS));
    await sleep(random.between(100, PAUSE_MS));
    return true;
  }

  async #disturbNetwork(kind: NetworkFault): Promise<boolean> {
    const { system, random, drivers } = this.#settings;
    const { fault, target } = networkFault(kind, random);
    const met = Promise.withResolvers<boolean>();
    system.network.onMeet = (path) => {
      const state = drivers().find(({ session }) => session !== undefined && path.includes(session))?.state ?? "idle";
      const at = Date.now();
      this.#record({ kind, state, from: at, to: at, hitsProcess: false });
      met.resolve(true);
    };
    system.network.next(fault, target);
    const isMet = await Promise.race([met.promise, sleep(MEET_MS, false, { ref: false })]);
    system.network.clear();
    return isMet;
  }

  async #answerTwice(): Promise<boolean> {
    this.#doubleAnswers = 1;
    const deadline = Date.now() + MEET_MS;
    while (this.#doubleAnswers > 0 && Date.now() < deadline && !this.#settings.signal.aborted) await sleep(20);
    const isTaken = this.#doubleAnswers === 0;
    this.#doubleAnswers = 0;
    return isTaken;
  }

  #pick<T>(values: readonly T[]): T | undefined {
    return values[this.#settings.random.between(0, values.length - 1)];
  }

  #record(fault: FaultRecord): void {
    this.#settings.history.faults.push(fault);
  }
}
