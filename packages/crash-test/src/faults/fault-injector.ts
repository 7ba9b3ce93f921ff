import { setTimeout as sleep } from "node:timers/promises";
import type { FaultRecord, History, SessionState } from "../operation-history.ts";
import { hasProcessTable } from "../observer/process-table.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { TestedProcess } from "../system/tested-process.ts";
import type { ExtraFault, TestedSystem } from "../system/tested-system.ts";
import type { SessionDriver } from "../workload/session-driver.ts";
import { FAULT_KINDS, isNetworkFault, type FaultKind, type NetworkFault } from "./fault-kinds.ts";
import { networkFault } from "./met-faults.ts";

export interface InjectorSettings {
  system: TestedSystem;
  history: History;
  drivers: () => readonly SessionDriver[];
  signal: AbortSignal;
  /** How long a fault waits for its occasion: on a busy machine, a turn takes long. */
  patienceMs: number;
  /** Whether approvals are part of the workload. */
  hasApprovals: boolean;
}

/** How long a fault waits for a session in its state. */
const AIM_MS = 4_000;
/** A fault hits at a random moment of a state. */
const SPREAD_MS = 150;
/** Short ones are noticed by nothing, long ones outlast a lease. */
const PAUSES_MS = [100, 400, 1_000, 3_000] as const;
const FULL_MS = [100, 500, 2_000] as const;
/** Until all processes have read the new time. */
const CLOCK_MS = 150;
/** How long a process that is to die at a write has for it. */
const WRITE_MS = 4_000;
const MOST_WRITES = 60;
const POLL_MS = 100;
const BUSY_SHARE = 0.8;
const RESUME_MS = 900;
const HOUR_MS = 3_600_000;
const STEPS_MS = [HOUR_MS, -HOUR_MS, 60_000, -60_000, 0] as const;

/** Why a kind of fault cannot happen to a system; undefined if it can. */
export function skipReason(kind: string, system: TestedSystem, hasApprovals: boolean): string | undefined {
  const known = FAULT_KINDS.find((one) => one === kind);
  if (known === undefined || isNetworkFault(known)) return undefined;
  if (known === "two-answers") return hasApprovals ? undefined : "the workload has no approvals";
  if (system.processes.length === 0) return "a server at a URL has network faults only";
  const { disk, clock, writes } = system.plan;
  if (known === "kill-worker") return system.workers.length > 0 ? undefined : "there is no worker: not a fleet";
  if (known === "kill-child") return hasProcessTable ? undefined : "this platform has no /proc";
  if (known === "disk-full") return typeof disk === "string" ? disk : undefined;
  if (known === "clock-step" && !clock?.isLoaded) return "the server does not run on Node, whose clock can be replaced";
  if (known === "kill-write" && !writes?.isLoaded)
    return "the server does not run on Node, whose writes can be counted";
  return undefined;
}

export class FaultInjector {
  readonly #settings: InjectorSettings;
  #doubleAnswers = 0;
  /** The states that faults wait for. */
  readonly #wanted: SessionState[] = [];

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

  /** States of sessions that a fault waits for. The clients work towards them. */
  get wanted(): readonly SessionState[] {
    return this.#wanted;
  }

  /** Injects a fault into a session in this state. Returns false if no occasion came. */
  async inject(kind: string, state: SessionState, random: SeededRandom): Promise<boolean> {
    if (isNetworkFault(kind)) return this.#disturbNetwork(kind, random);
    if (kind === "two-answers") return this.#answerTwice();
    const actual = await this.#aim(state === "resuming" ? "model" : state, random);
    const extra = this.#settings.system.plan.extraFaults?.find((one) => one.kind === kind);
    const from = Date.now();
    const hit = extra
      ? await this.#injectExtra(extra, random)
      : await this.#hit(
          FAULT_KINDS.find((one) => one === kind)!,
          state,
          random,
        );
    if (!hit) return false;
    const hitState = state === "resuming" ? "resuming" : actual;
    this.#record({ kind, state: hitState, from, to: Date.now(), hitsProcess: extra?.sparesTurns !== true });
    return true;
  }

  #injectExtra(fault: ExtraFault, random: SeededRandom): Promise<boolean> {
    const inject = (): Promise<boolean> => fault.inject(random, this.#settings.system);
    return fault.sparesTurns ? inject() : this.#excused(inject, fault.sparesProcesses);
  }

  #hit(kind: FaultKind, state: SessionState, random: SeededRandom): Promise<boolean> {
    switch (kind) {
      case "kill":
        return this.#restart("server", (process) => process.kill(), state, random);
      case "stop":
        return this.#restart("server", (process) => process.stop(), state, random);
      case "kill-worker":
        return this.#restart("worker", (process) => process.kill(), state, random);
      case "kill-write":
        return this.#killAtWrite(random);
      case "power-cut":
        return this.#cutPower();
      case "pause":
        return this.#pause(random);
      case "kill-child":
        return this.#killChild(random);
      case "disk-full":
        return this.#excused(() => this.#fillDisk(random));
      case "clock-step":
        return this.#stepClock(random);
      default:
        return Promise.resolve(false);
    }
  }

  /** Waits for a session in this state, then for a random moment. Returns the state that is hit. */
  async #aim(wanted: SessionState, random: SeededRandom): Promise<SessionState> {
    const { drivers, signal } = this.#settings;
    const deadline = Date.now() + AIM_MS;
    this.#wanted.push(wanted);
    while (Date.now() < deadline && !signal.aborted && !drivers().some(({ state }) => state === wanted))
      await sleep(10);
    this.#wanted.splice(this.#wanted.indexOf(wanted), 1);
    const isThere = drivers().some(({ state }) => state === wanted);
    const state = isThere ? wanted : (drivers()[0]?.state ?? "idle");
    await sleep(random.between(0, SPREAD_MS));
    return state;
  }

  async #restart(
    role: "server" | "worker",
    end: (process: TestedProcess) => Promise<unknown>,
    state: SessionState,
    random: SeededRandom,
  ): Promise<boolean> {
    const { system } = this.#settings;
    const process = role === "server" ? this.#pick(system.servers, random) : await this.#pickWorker(random);
    // Another fault may have ended it a moment ago.
    if (process?.pid === undefined) return false;
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

  async #killAtWrite(random: SeededRandom): Promise<boolean> {
    const { system } = this.#settings;
    const { writes } = system.plan;
    const process = this.#pick(system.processes, random);
    if (!process || !writes) return false;
    const write = random.between(1, MOST_WRITES);
    if (!(await process.endsBy((pid) => writes.before(write, pid), WRITE_MS))) return false;
    await system.restart(process);
    return true;
  }

  /** As a power failure of the machine: nothing can notice the death of anything else. */
  async #cutPower(): Promise<boolean> {
    const { system } = this.#settings;
    await Promise.all(system.processes.map((process) => process.killTree()));
    for (const process of system.processes) process.launch();
    await Promise.all(system.processes.map((process) => system.ready(process)));
    return true;
  }

  async #pause(random: SeededRandom): Promise<boolean> {
    const process = this.#pick(this.#settings.system.processes, random);
    if (!process?.pause()) return false;
    try {
      await sleep(random.pick(PAUSES_MS));
    } finally {
      process.resume();
    }
    return true;
  }

  async #killChild(random: SeededRandom): Promise<boolean> {
    const { system, signal, patienceMs } = this.#settings;
    const deadline = Date.now() + patienceMs;
    while (Date.now() < deadline && !signal.aborted) {
      const children = system.processes.flatMap((one) => one.children(system.plan.childPattern));
      const child = this.#pick(children, random);
      try {
        if (child !== undefined) return process.kill(child, "SIGKILL");
      } catch {
        // It has exited.
      }
      await sleep(POLL_MS);
    }
    return false;
  }

  async #fillDisk(random: SeededRandom): Promise<boolean> {
    const { disk } = this.#settings.system.plan;
    if (typeof disk === "string") return false;
    try {
      await disk.fill();
      await sleep(random.pick(FULL_MS));
    } finally {
      await disk.free();
    }
    return true;
  }

  /** Processes may end by themselves meanwhile. They are started again. */
  async #excused(fault: () => Promise<boolean>, onlyStarts = false): Promise<boolean> {
    const { system, signal } = this.#settings;
    using _excuse = system.excuse({ onlyStarts });
    const hit = await fault();
    for (const process of system.processes) {
      // A start that met the fault fails only afterwards.
      while (!signal.aborted && !(await process.waitUntilReady(signal))) {
        if (process.pid === undefined) process.launch();
      }
    }
    return hit;
  }

  async #stepClock(random: SeededRandom): Promise<boolean> {
    const { clock } = this.#settings.system.plan;
    const isMoved = (await clock?.moveTo(random.pick(STEPS_MS))) ?? false;
    await sleep(CLOCK_MS);
    return isMoved;
  }

  async #disturbNetwork(kind: NetworkFault, random: SeededRandom): Promise<boolean> {
    const { system, drivers, patienceMs } = this.#settings;
    const { fault, target } = networkFault(kind, random);
    const met = Promise.withResolvers<boolean>();
    system.network.onMeet = (path) => {
      const state = drivers().find(({ session }) => session !== undefined && path.includes(session))?.state ?? "idle";
      const at = Date.now();
      this.#record({ kind, state, from: at, to: at, hitsProcess: false });
      met.resolve(true);
    };
    system.network.next(fault, target);
    const isMet = await Promise.race([met.promise, sleep(patienceMs, false, { ref: false })]);
    system.network.clear();
    return isMet;
  }

  async #answerTwice(): Promise<boolean> {
    this.#doubleAnswers = 1;
    this.#wanted.push("approval");
    const deadline = Date.now() + this.#settings.patienceMs;
    while (this.#doubleAnswers > 0 && Date.now() < deadline && !this.#settings.signal.aborted) await sleep(20);
    this.#wanted.splice(this.#wanted.indexOf("approval"), 1);
    const isTaken = this.#doubleAnswers === 0;
    this.#doubleAnswers = 0;
    return isTaken;
  }

  /** Mostly one that runs a turn: the death of an idle one tests little. */
  async #pickWorker(random: SeededRandom): Promise<TestedProcess | undefined> {
    const { workers, plan } = this.#settings.system;
    const names = (await plan.busyWorkers?.()) ?? [];
    const busy = workers.filter(({ name }) => names.includes(name));
    return this.#pick(busy.length > 0 && random.next() < BUSY_SHARE ? busy : workers, random);
  }

  #pick<T>(values: readonly T[], random: SeededRandom): T | undefined {
    return values[random.between(0, values.length - 1)];
  }

  #record(fault: FaultRecord): void {
    this.#settings.history.faults.push(fault);
  }
}
