import {
  approvalAnswer,
  clientEvent,
  findDivergence,
  markPaths,
  RequestError,
  sessionUpdateParams,
  stepsOf,
  unmarkPaths,
  type Cassette,
  type CassetteInput,
  type CassetteStep,
  type CassetteStepOf,
  type ClientEvent,
  type Divergence,
  type LoggedEvent,
  type ReplayMode,
} from "@tandem/protocol";
import { setTimeout as delay } from "node:timers/promises";
import { isRequest } from "./recorded-own-steps.ts";
import { isPrompt } from "./recorded-run.ts";
import type { ReplayStage } from "./replay-stage.ts";

type Input = CassetteStepOf<"input">;
type Rewind = Extract<CassetteInput, { type: "tandem.rewound" }>;

/** Events that give the agent a message. */
const PROMPTS: ReadonlySet<string> = new Set(["user.message", "user.define_outcome", "span.outcome_evaluation_end"]);

/** Without a process, nothing happens by itself: a run that waits for an input which is not due has diverged. */
const BLOCKED_MS = 3_000;

/** The name of the sender in the log of a replay. */
const SENDER = "replay";

export interface DriverOptions {
  mode: ReplayMode;
  /** A run in which nothing happens for this time has diverged. */
  stallMs: number;
  /** Continue after a step that differs. Inputs that have lost their place are left out. */
  pastDivergence?: boolean;
  signal?: AbortSignal | undefined;
}

/** Sends the recorded inputs at their places. Returns when the run has ended as recorded, differs, or stalls. */
export class ReplayDriver {
  readonly #stage: ReplayStage;
  readonly #recorded: readonly CassetteStep[];
  readonly #options: DriverOptions;
  readonly #events: LoggedEvent[] = [];
  #changed = Promise.withResolvers<void>();
  #sent = 0;

  constructor(stage: ReplayStage, { steps }: Cassette, options: DriverOptions) {
    this.#stage = stage;
    this.#recorded = steps;
    this.#options = options;
  }

  /** Returns the first difference that ended the run early: a step, or an input that the engine refused. */
  async drive(): Promise<Divergence | undefined> {
    const { engine, session, paths } = this.#stage;
    const { mode, pastDivergence = false } = this.#options;
    using watching = this.#watch();
    const inputs = unmarkPaths(this.#recorded, paths)
      .filter((step) => step.kind === "input")
      .filter(({ event }) => isSent(event));
    for (;;) {
      const changed = Promise.race([this.#changed.promise, this.#stage.run.changed]);
      const run = stepsOf(markPaths(this.#events, paths));
      const divergence = findDivergence(this.#recorded, run, { mode, isRunning: true });
      if (divergence && !pastDivergence) return divergence;
      const next = inputs.findIndex(
        (input, index) => this.#mayPrecede(inputs.slice(0, index), input) && this.#isReady(input, run),
      );
      const [input] = next === -1 ? [] : inputs.splice(next, 1);
      if (input) {
        const refused = await this.#send(engine, session.id, input);
        if (refused !== undefined && !pastDivergence) return refusedInput(input, refused);
        if (refused === undefined) this.#sent += 1;
        this.#stage.run.inputSent(input.step);
        continue;
      }
      if (pastDivergence && this.#isAtRest(run)) {
        const lost = inputs.findIndex(({ during }) => during !== undefined);
        if (lost !== 0) return undefined;
        this.#leaveOut(inputs.shift()!);
        continue;
      }
      if (!pastDivergence && inputs.length === 0 && !findDivergence(this.#recorded, run, { mode })) return undefined;
      const isStalled = await Promise.race([changed, stall(this.#stallMs(run), watching.signal)]);
      this.#options.signal?.throwIfAborted();
      if (isStalled === "stalled") return undefined;
    }
  }

  #stallMs(run: readonly CassetteStep[]): number {
    const { mode, stallMs } = this.#options;
    const isBlocked = mode === "recorded" && (this.#isAtRest(run) || this.#stage.run.isBlocked);
    return isBlocked ? Math.min(stallMs, BLOCKED_MS) : stallMs;
  }

  /** Answers and results that wait for the input must not wait longer. */
  #leaveOut({ step, event }: Input): void {
    this.#stage.run.inputSent(step);
    if (isPrompt(event)) this.#stage.run.messageReceived();
  }

  #watch(): Disposable & { signal: AbortSignal } {
    const { engine, session } = this.#stage;
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, ...(this.#options.signal ? [this.#options.signal] : [])]);
    const follow = async (): Promise<void> => {
      for await (const batch of engine.sessions.follow(session.id as never, 0, signal)) {
        this.#events.push(...batch);
        this.#notify();
      }
    };
    follow().catch(() => this.#notify());
    return { signal, [Symbol.dispose]: () => stop.abort() };
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** The session has got all inputs that were sent, and waits. */
  #isAtRest(run: readonly CassetteStep[]): boolean {
    if (this.#sent === 0 || run.filter(({ kind }) => kind === "input").length < this.#sent) return false;
    const last = this.#events.findLast(
      ({ event: { type } }) => type.startsWith("user.") || type.startsWith("session.status_"),
    );
    return last?.event.type === "session.status_idle" || last?.event.type === "session.status_terminated";
  }

  /** Real Claude Code asks about parallel calls in an order of its own. */
  #mayPrecede(earlier: readonly Input[], input: Input): boolean {
    if (earlier.length === 0) return true;
    return this.#options.mode === "real_tools" && [...earlier, input].every(({ event }) => "call" in event);
  }

  #isReady({ step, thread, event, during, after = [] }: Input, whole: readonly CassetteStep[]): boolean {
    const { run: recorded } = this.#stage;
    const isReal = this.#options.mode === "real_tools";
    const run = whole.filter((each) => each.thread === thread);
    const before = this.#recorded.slice(0, step - 1).filter((each) => each.thread === thread);
    const requests = recorded.requestsOf(thread).length;
    const count = (steps: readonly CassetteStep[], kind: CassetteStep["kind"]) =>
      steps.filter(
        (each) =>
          each.kind === kind && !("waiting_for" in each && each.waiting_for) && !("unseen" in each && each.unseen),
      ).length;
    if (during === undefined) return count(run, "idle") >= count(before, "idle");
    const models = count(before, "model");
    const isAnswered = run.filter((each) => isRequest(each) && each.answer !== null).length >= models;
    const calls = new Map(run.flatMap((each) => (each.kind === "call" ? [[each.id, each]] : [])));
    const isAfter = after.every((id) => calls.get(id)?.result);
    switch (event.type) {
      case "user.message":
        return during === "answer" ? requests >= models : isAnswered;
      case "user.tool_confirmation":
      case "user.custom_tool_result":
        return this.#waitingCall(event.call) !== undefined && (isReal || isAfter);
      case "user.tool_result":
        return (
          this.#waitingCall(event.call) !== undefined && this.#isConfirmed(event.call) === hasConfirmed(run, event.call)
        );
      case "user.interrupt": {
        if (during === "answer") return requests >= models && recorded.streamed >= this.#textBefore(step);
        if (this.#endsEvaluation(step)) return recorded.isGrading;
        const cut = this.#recorded.flatMap((each) =>
          each.kind === "call" &&
          each.step > step &&
          each.result?.interrupted &&
          each.thread === thread &&
          models ===
            count(
              this.#recorded.slice(0, each.step).filter((other) => other.thread === thread),
              "model",
            )
            ? [each]
            : [],
        );
        return (
          isAnswered &&
          isAfter &&
          cut.every(({ id, permission }) => {
            if (permission === "ask" && !this.#isConfirmed(id)) return this.#waitingCall(id) !== undefined;
            return isReal ? calls.has(id) : recorded.hasStarted(id);
          })
        );
      }
      default:
        return isAnswered && isAfter;
    }
  }

  /** The length of the text that the interrupted answer had. */
  #textBefore(step: number): number {
    const model = this.#recorded.slice(0, step).findLast((each) => each.kind === "model");
    const content = model?.answer?.type === "interrupted" ? model.answer.content : [];
    const texts = content.map(({ text }) => (typeof text === "string" ? text : ""));
    return unmarkPaths(texts, this.#stage.paths).join("").length;
  }

  #isConfirmed(call: string): boolean {
    return hasConfirmed(this.#recorded, call);
  }

  /** The interrupt came while a grader worked. */
  #endsEvaluation(step: number): boolean {
    const rest = this.#recorded.slice(step);
    const next = rest.findIndex(({ kind }) => kind === "model" || kind === "idle");
    return rest
      .slice(0, next === -1 ? undefined : next)
      .some(
        (each) =>
          each.kind === "input" &&
          each.event.type === "span.outcome_evaluation_end" &&
          each.event.result === "interrupted",
      );
  }

  /** The id of the n-th prompt of the run. */
  #promptId(number: number): string | undefined {
    return this.#events.filter(({ event: { type } }) => PROMPTS.has(type))[number - 1]?.event.id;
  }

  /** The id of the event of a call that waits for an answer. */
  #waitingCall(call: string): string | undefined {
    const idle = this.#events.findLast(({ event }) => event.type === "session.status_idle")?.event;
    if (idle?.type !== "session.status_idle" || idle.stop_reason.type !== "requires_action") return undefined;
    const use = this.#eventOf(call);
    return use !== undefined && idle.stop_reason.event_ids.some((id) => id === use) ? use : undefined;
  }

  #eventOf(call: string): string | undefined {
    return this.#events.findLast(({ event }) => "tandem" in event && callOf(event) === call)?.event.id;
  }

  /** Other programs' changes do not matter in a scratch folder. */
  async #rewind(engine: ReplayStage["engine"], id: string, { scope, prompt }: Rewind): Promise<void> {
    if (prompt === null) return void (await engine.history.undoRewind(id, { force: true }, SENDER));
    const message = this.#promptId(prompt);
    await engine.history.rewind(id, { scope, force: true, ...(message && { to_message_id: message }) }, SENDER);
  }

  /** Returns the reason if the engine refuses the input. */
  async #send(engine: ReplayStage["engine"], id: string, { event }: Input): Promise<string | undefined> {
    const send = (given: unknown): Promise<unknown> =>
      engine.sessions.send(id, [clientEvent.parse(given) satisfies ClientEvent], SENDER);
    try {
      switch (event.type) {
        case "user.message": {
          const { type, content, ...tandem } = event;
          await send({ type, content, ...(Object.keys(tandem).length > 0 && { tandem }) });
          return undefined;
        }
        case "user.tool_confirmation": {
          const { type: _type, call, deny_message: message, ...answer } = event;
          const given = approvalAnswer.parse({ ...answer, ...(message !== undefined && { message }) });
          await engine.approvals.answer(this.#waitingCall(call) ?? "", given, SENDER, true);
          return undefined;
        }
        case "user.custom_tool_result": {
          const { call, ...result } = event;
          await send({ ...result, custom_tool_use_id: this.#waitingCall(call) });
          return undefined;
        }
        case "user.tool_result": {
          const { call, ...result } = event;
          await send({ ...result, tool_use_id: this.#waitingCall(call) });
          return undefined;
        }
        case "user.define_outcome": {
          const { grader, ...outcome } = event;
          await send({ ...outcome, ...(grader && { tandem: { grader } }) });
          return undefined;
        }
        case "tandem.rewound":
          await this.#rewind(engine, id, event);
          return undefined;
        case "session.updated": {
          const { metadata, tools } = event;
          const params = { ...(metadata && { metadata }), ...(tools && { agent: { tools } }) };
          await engine.sessions.update(id, sessionUpdateParams.parse(params), SENDER);
          return undefined;
        }
        case "system.message":
        case "user.interrupt":
          await send(event);
          return undefined;
        case "span.outcome_evaluation_end":
        case "tandem.compaction":
          return undefined;
        case "other":
          return `A replay has no ${event.event}.`;
      }
    } catch (error) {
      if (error instanceof RequestError) return error.message;
      throw error;
    }
  }
}

/** In slices: a process that got no time from the machine has not been idle. */
async function stall(ms: number, signal: AbortSignal): Promise<"stalled"> {
  for (let slice = 0; slice < SLICES; slice += 1) await delay(ms / SLICES, undefined, { signal });
  return "stalled";
}

const SLICES = 10;

const NOT_SENT: ReadonlySet<string> = new Set(["span.outcome_evaluation_end", "tandem.compaction"]);

/** Graders and Claude Code give the others. */
const isSent = ({ type }: CassetteInput): boolean => !NOT_SENT.has(type);

const hasConfirmed = (steps: readonly CassetteStep[], call: string): boolean =>
  steps.some(
    (step) => step.kind === "input" && step.event.type === "user.tool_confirmation" && step.event.call === call,
  );

function callOf(event: LoggedEvent["event"]): string | undefined {
  switch (event.type) {
    case "agent.tool_use":
    case "agent.mcp_tool_use":
    case "agent.custom_tool_use":
      return event.tandem.tool_use_id;
    default:
      return undefined;
  }
}

const refusedInput = ({ step, event }: Input, reason: string): Divergence => ({
  step,
  kind: "input",
  expected: { kind: "input", event },
  actual: { kind: "input", event, refused: reason },
});
