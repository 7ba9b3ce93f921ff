import type { EventId, ThreadId } from "@tandem/protocol";
import { describe, expect, inject, it } from "vitest";
import { PendingApprovals } from "../approvals/pending-approvals.ts";
import { announcement, runningCalls, unanswered, undelivered, type Answer } from "../approvals/pending-calls.ts";
import type { OpenCall } from "../log/open-turn.ts";
import { TurnMachine } from "./turn-machine.ts";
import {
  acceptsMessage,
  canReleaseProcess,
  canSteer,
  isWaiting,
  isWaitLogged,
  transition,
  type TurnEvent,
  type TurnState,
} from "./turn-state.ts";

const SEEDS = inject("soak") ? 5_000 : 100;

const END = { stop: "end_turn", stopDetails: null, reported: {} } as const;

const callOf = (id: string, thread: string | null = null): OpenCall =>
  ({
    thread: thread as ThreadId | null,
    use: { type: "agent.tool_use", id, name: "Bash", tandem: {} },
  }) as unknown as OpenCall;

const answerTo = (id: string): Answer =>
  ({ type: "user.tool_confirmation", tool_use_id: id, result: "allow" }) as unknown as Answer;

/** A small seeded generator (mulberry32), so that a failing sequence can be repeated. */
function randomOf(seed: number): (below: number) => number {
  let a = seed;
  return (below) => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** Drives a machine as the runner does, with random input, and records how turns and calls end. */
class Driver {
  readonly machine = new TurnMachine();
  readonly pending = new PendingApprovals(this.machine);
  readonly begun: number[] = [];
  readonly ends: number[] = [];
  readonly asked: string[] = [];
  /** How each call left the pending ones. */
  readonly closed: string[] = [];
  /** Answers that were accepted and must reach a process, unless their call or turn ends first. */
  readonly accepted = new Set<string>();
  readonly delivered: string[] = [];
  readonly answerableTwice: string[] = [];
  readonly random: (below: number) => number;
  /** All kinds of steps, so that the test can check that each of them happens. */
  readonly kinds = new Set<string>();
  /** Calls whose process waits for the answer. */
  readonly #fetching = new Set<string>();
  #hasProcess = false;
  #now = 0;

  constructor(random: (below: number) => number) {
    this.random = random;
  }

  get #state(): TurnState {
    return this.machine.state;
  }

  #apply(event: TurnEvent): void {
    const before = this.machine.turn?.id;
    this.machine.apply(event);
    const id = this.machine.turn?.id;
    if (id !== undefined && id !== before) this.begun.push(id);
    if (before !== undefined && id !== before) this.ends.push(before);
  }

  #is(...types: TurnState["type"][]): boolean {
    return types.includes(this.#state.type);
  }

  /** One random step. Returns what happened. */
  step(): string {
    this.#now += this.random(1_000);
    const at = this.#now;
    const steps: [string, boolean, () => void][] = [
      ["message", acceptsMessage(this.#state), () => this.#apply({ type: "begin", at, message: `m${at}` as EventId })],
      [
        "inherit",
        this.#is("idle"),
        () => this.#apply({ type: "inherit", at, messages: [], quotaWaits: this.random(2) }),
      ],
      ["prompt", this.#is("starting"), () => this.#prompt()],
      [
        "steering",
        canSteer(this.#state) && this.#is("running"),
        () => this.#apply({ type: "working", at, message: `m${at}` as EventId }),
      ],
      ["request", this.#hasProcess, () => this.#request()],
      ["grading", this.#is("settling"), () => this.#grade(at)],
      ["verdict", this.#is("grading"), () => this.#apply({ type: "begin", at, message: `m${at}` as EventId })],
      ["works by itself", this.#hasProcess && acceptsMessage(this.#state), () => this.#apply({ type: "working", at })],
      ["call", this.#hasProcess && !this.#is("ending"), () => this.#ask()],
      ["result", this.#hasProcess, () => this.#close(this.#anyOpen())],
      ["answer", unanswered(this.#state.calls).length > 0 && !this.#is("ending"), () => this.#answer()],
      ["announce", !this.#is("idle", "ending"), () => this.#announce()],
      [
        "claude ends",
        this.#hasProcess && this.#is("starting", "running", "background"),
        () => this.#apply({ type: "claudeEnded" }),
      ],
      ["background", this.#is("settling"), () => this.#apply({ type: "rest", end: END })],
      ["quota", this.#is("settling", "starting"), () => this.#quota()],
      ["reset", this.#is("quotaWait"), () => this.#apply({ type: "resume" })],
      ["interrupt", !this.#is("idle"), () => this.#interrupt()],
      ["limit", !this.#is("idle"), () => this.#apply({ type: "limit", reason: { type: "end_turn" }, events: [] })],
      [
        "idle timeout",
        isWaitLogged(this.#state) && canReleaseProcess(this.#state) && this.#is("running"),
        () => this.#release(),
      ],
      ["crash", this.#hasProcess && this.#is("running", "background", "settling"), () => this.#end()],
      ["death", this.#hasProcess && this.#is("running") && unanswered(this.#state.calls).length > 0, () => this.#die()],
      ["settle", this.#is("settling", "background", "grading"), () => this.#end()],
      ["lost", this.random(20) === 0, () => this.#abandon()],
    ];
    for (const [name] of steps) this.kinds.add(name);
    const possible = steps.filter(([, can]) => can);
    const [name, , run] = possible[this.random(possible.length)]!;
    run();
    return name;
  }

  #prompt(): void {
    for (const { call } of this.pending.takeUndelivered()) this.#start(call);
    this.#hasProcess = true;
    this.#apply({ type: "prompted" });
  }

  #ask(): void {
    const id = `c${this.asked.length}`;
    this.asked.push(id);
    const thread = this.random(4) === 0 ? "thread" : null;
    void this.pending.enter(callOf(id, thread));
    if (this.random(2) === 0) return;
    this.#fetching.add(id);
    void this.#fetch(id as EventId);
  }

  /** An allowed call stays until it has its result. */
  #start(call: OpenCall): void {
    this.accepted.delete(call.use.id);
    this.#apply({ type: "call.started", id: call.use.id });
  }

  /** The process dies: a person is asked for the outcome of calls that ran, and the others keep waiting. */
  #die(): void {
    this.#hasProcess = false;
    this.#fetching.clear();
    for (const { use } of runningCalls(this.#state.calls)) {
      this.#close(use.id);
      const id = `c${this.asked.length}`;
      this.asked.push(id);
      void this.pending.enter(callOf(id));
    }
    this.#apply({ type: isWaiting(this.#state) ? "suspend" : "resume" });
  }

  /** The process waits for the answer. */
  async #fetch(id: EventId): Promise<void> {
    if (await this.pending.wait(id, new AbortController().signal)) this.delivered.push(id);
  }

  #anyOpen(): string | undefined {
    const ids = [...this.#state.calls.calls.keys()];
    return ids[this.random(Math.max(1, ids.length))];
  }

  #close(id: string | undefined): void {
    if (id === undefined) return;
    this.closed.push(id);
    this.accepted.delete(id);
    this.#apply({ type: "call.closed", id: id as EventId });
  }

  #answer(): void {
    const calls = unanswered(this.#state.calls);
    const call = calls[this.random(calls.length)]!;
    const { id } = call.use;
    this.accepted.add(id);
    const handOver = this.pending.answer(call, answerTo(id));
    if (unanswered(this.#state.calls).some(({ use }) => use.id === id)) this.answerableTwice.push(id);
    handOver();
    if (this.#hasProcess && this.#fetching.has(id)) this.#start(call);
    if (this.#is("waiting") && !isWaiting(this.#state)) this.#apply({ type: "resume" });
  }

  #closeAll(): void {
    for (const id of this.#state.calls.calls.keys()) {
      this.closed.push(id);
      this.accepted.delete(id);
    }
    this.pending.clear();
  }

  #announce(): void {
    const next = announcement(this.#state.calls);
    if (next) this.#apply({ type: "calls.announced", ids: next.ids });
  }

  #quota(): void {
    this.#hasProcess = false;
    this.#fetching.clear();
    this.#apply({ type: "waitForQuota", until: this.#now + 1_000, isNew: true });
  }

  #interrupt(): void {
    this.#apply({ type: "interrupt" });
    if (this.#is("background", "waiting", "quotaWait", "grading")) this.#end();
    else if (this.#is("running")) this.#apply({ type: "claudeEnded" });
  }

  #request(): void {
    const events: TurnEvent[] = [
      { type: "requestStarted" },
      { type: "agentEvent", isLastResult: this.random(2) === 0 },
    ];
    this.#apply(this.random(3) === 0 ? { type: "requestEnded" } : events[this.random(2)]!);
  }

  #grade(at: number): void {
    this.#apply({ type: "end" });
    this.#closeAll();
    this.#hasProcess = false;
    this.#apply({ type: "grade", at });
  }

  #release(): void {
    this.#hasProcess = false;
    this.#fetching.clear();
    this.#apply({ type: "suspend" });
  }

  #end(): void {
    if (this.#is("idle", "ending")) return;
    this.#apply({ type: "end" });
    this.#closeAll();
    this.#apply({ type: "ended" });
  }

  #abandon(): void {
    this.#closeAll();
    this.#hasProcess = false;
    this.#apply({ type: "abandon" });
  }

  finish(): void {
    this.#end();
    // Calls that were asked after the end of a turn are closed with the session.
    this.#abandon();
  }
}

/** Events that are bugs in this state. */
const impossibleIn = (state: TurnState): TurnEvent[] => [
  ...(acceptsMessage(state) || state.type === "grading" ? [] : [{ type: "begin" as const, at: 0 }]),
  ...(state.type === "ending" ? [{ type: "end" as const }] : [{ type: "ended" as const }]),
  ...(state.type === "idle" ? [] : [{ type: "inherit" as const, at: 0, messages: [], quotaWaits: 0 }]),
  ...(state.type === "starting" ? [] : [{ type: "prompted" as const }]),
];

function canTake(state: TurnState, event: TurnEvent): boolean {
  try {
    transition(state, event);
    return true;
  } catch {
    return false;
  }
}

describe("random sequences of input, answers, crashes, timeouts and interrupts", () => {
  it("end each turn once, close each call once and lose no answer", async () => {
    const happened = new Set<string>();
    const kinds = new Set<string>();
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const driver = new Driver(randomOf(seed));
      const steps: string[] = [];
      for (let count = 0; count < 100; count += 1) {
        const before = driver.machine.turn?.id;
        const step = driver.step();
        steps.push(step);
        const { state } = driver.machine;
        const about = `seed ${seed}: ${steps.slice(-8).join(", ")}`;
        if (step === "steering") expect(driver.machine.turn?.id, about).toBe(before);
        const kept = new Set<string>(undelivered(state.calls).map(({ call }) => call.use.id));
        for (const id of driver.accepted) expect(kept.has(id), `${about}: the answer to ${id} is lost`).toBe(true);
        const taken = impossibleIn(state).filter((event) => canTake(state, event));
        if (taken.length > 0) expect.fail(`${about}: ${state.type} takes ${taken.map(({ type }) => type).join(", ")}`);
        // A released process has no request in flight.
        if (["waiting", "quotaWait", "grading"].includes(state.type)) expect(state.requests, about).toBe(0);
        // A waiting turn has a call whose answer resumes it.
        if (state.type === "waiting") expect(isWaiting(state), about).toBe(true);
        // Every state has a way out.
        if (state.type !== "idle") {
          const events: TurnEvent[] =
            state.type === "ending" ? [{ type: "ended" }] : [{ type: "end" }, { type: "ended" }];
          expect(events.reduce(transition, state).type, about).toBe("idle");
        }
      }
      for (const step of steps) happened.add(step);
      for (const kind of driver.kinds) kinds.add(kind);
      driver.finish();
      expect(driver.ends, `seed ${seed}`).toEqual(driver.begun);
      expect(driver.closed.toSorted(), `seed ${seed}`).toEqual(driver.asked.toSorted());
      expect(driver.answerableTwice, `seed ${seed}`).toEqual([]);
      await Promise.resolve();
      expect(new Set(driver.delivered).size).toBe(driver.delivered.length);
    }
    expect(happened, "every kind of step").toEqual(kinds);
  });
});
