import type { TurnEnd } from "@tandem/claude-code";
import {
  newId,
  RequestError,
  type EventOf,
  type ModelUsage,
  type SessionEventBody,
  type StopReason,
  type ThreadId,
  isoNow,
} from "@tandem/protocol";
import type { OutcomeState, SessionChange } from "@tandem/storage";
import type { Refusal, TurnHooks } from "../hooks/turn-hook.ts";
import type { Placed } from "../log/open-turn.ts";
import { usageEvent } from "../log/usage-ledger.ts";
import type { ConversationHolder } from "../conversation/conversation-holder.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import type { TurnMachine } from "./turn-machine.ts";
import { turnFailure } from "./turn-failure.ts";
import type { TurnOutput } from "./turn-output.ts";
import { GraderUnavailable, type Grade, type GraderRequest } from "../outcomes/grader.ts";
import { promptOf } from "../log/outcome-prompt.ts";
import {
  activeOutcome,
  evaluated,
  evaluating,
  NO_USAGE,
  resultOf,
  unevaluated,
  withOutcome,
} from "../log/outcome-state.ts";

const HEARTBEAT_MS = 15_000;
/** For budgets: the grader's context is not the agent's. */
const GRADER_THREAD = "sthr_grader" as ThreadId;

type EvaluationEnd = EventOf<"span.outcome_evaluation_end">;

interface LoopParts {
  machine: TurnMachine;
  holder: Pick<ConversationHolder, "lend">;
  hooks: TurnHooks;
  output: () => TurnOutput;
}

/** The effects of an evaluation on the session. Called within a step. */
interface LoopListener {
  /** The agent gets this message as its next turn. */
  onPrompt(message: EventOf<"user.message">): void;
  /** No turn follows. */
  onRest(reason: StopReason, events: readonly Placed[], change: SessionChange): Promise<void>;
  /** No grader is available now. */
  onFailure(end: TurnEnd): Promise<void>;
}

interface Run {
  abort: AbortController;
  process?: { pause(): void; unpause(): void };
  /** The agent's process may report its output again. */
  release: () => void;
  /** Resolves when the grader has ended. */
  done: Promise<void>;
}

/**
 * Evaluates a session's outcome whenever the agent ends its turn, and asks the agent for revisions. Every step is written
 * together with the state of the outcome, so that a crash neither loses a verdict nor repeats it. An evaluation that a crash
 * cut off starts again, with a new `span.outcome_evaluation_start` for the same iteration.
 */
export class OutcomeLoop {
  readonly #dependencies: TurnDependencies;
  readonly #parts: LoopParts;
  readonly #listener: LoopListener;
  #run: Run | undefined;
  /** Of the current or last evaluation. */
  #usage = NO_USAGE;

  constructor(dependencies: TurnDependencies, parts: LoopParts, listener: LoopListener) {
    this.#dependencies = dependencies;
    this.#parts = parts;
    this.#listener = listener;
  }

  get active(): OutcomeState | undefined {
    return activeOutcome(this.#dependencies.writer.row);
  }

  /** Whether a former writer left an evaluation without a verdict. */
  get isEvaluating(): boolean {
    return this.active?.result === "evaluating";
  }

  /** Reserves the budget of an evaluation. Undefined if there is no outcome to evaluate. */
  async admit(): Promise<{ refusal: Refusal | undefined } | undefined> {
    if (!this.active) return undefined;
    const refused = await this.#parts.hooks.admit("evaluation");
    // The limit on concurrent turns applies to new work only.
    return { refusal: refused?.reason ? refused : undefined };
  }

  /** The event and change that start an evaluation. The caller writes them, then calls `run`. */
  start(): { events: Placed[]; change: SessionChange } {
    const outcome = this.active!;
    const id = newId("event");
    const { outcome_id, iteration } = outcome;
    const body: SessionEventBody = { type: "span.outcome_evaluation_start", outcome_id, iteration };
    return { events: [{ thread: null, id, body }], change: this.#change(evaluating(outcome, id)) };
  }

  /** Runs the grader. Called in the state `grading`. */
  run(): void {
    const { turn } = this.#parts.machine;
    if (!turn) return;
    const release = this.#parts.output().hold();
    const run: Run = { abort: new AbortController(), release, done: Promise.resolve() };
    this.#run = run;
    this.#usage = NO_USAGE;
    run.done = this.#drive(run, turn.startedAt);
  }

  async #drive(run: Run, startedAt: number): Promise<void> {
    const { next } = this.#dependencies;
    try {
      const grade = await this.#evaluate(run, startedAt);
      next(() => this.#finish(run, grade));
    } catch (error) {
      next(() => this.#fail(run, error));
    }
  }

  /** Ends the evaluation without a verdict. Resolves when its process has ended. */
  async cancel(): Promise<void> {
    const run = this.#run;
    if (!run) return;
    this.#run = undefined;
    run.abort.abort(new RequestError("conflict", "The evaluation was cancelled."));
    run.release();
    await run.done;
  }

  pause(): void {
    this.#run?.process?.pause();
  }

  unpause(): void {
    this.#run?.process?.unpause();
  }

  /** Ends the outcome without a verdict. Nothing to write if there is none. */
  interrupted(explanation: string): { events: Placed[]; change: SessionChange } {
    const outcome = this.active;
    if (!outcome) return { events: [], change: {} };
    const { events, change } = this.#ended(outcome, { result: "interrupted", explanation });
    return { events, change };
  }

  /** The outcome stays active, and the next turn is evaluated again. */
  unevaluated(): SessionChange {
    return this.isEvaluating ? this.#change(unevaluated(this.active!)) : {};
  }

  async #evaluate(run: Run, startedAt: number): Promise<Grade> {
    const { store, writer, settings, grade } = this.#dependencies;
    const { hooks, holder } = this.#parts;
    const { outcome_id, iteration, event_id } = this.active!;
    const found = (await store.events.find(writer.row.id, event_id))?.event;
    if (found?.type !== "user.define_outcome") throw new Error(`The event ${event_id} is missing.`);
    await hooks.before({ message: null, opening: null, startedAt }, (events) => writer.write(events));
    const ongoing: SessionEventBody = { type: "span.outcome_evaluation_ongoing", outcome_id, iteration };
    const stop = settings.clock.every(HEARTBEAT_MS, () => void writer.write([ongoing]));
    try {
      const task = { row: writer.row, outcome: found };
      return await holder.lend(() =>
        grade(task, {
          signal: run.abort.signal,
          onRequestStart: () => this.#observe(run, null, { type: "span.model_request_start" }),
          onToolUse: () => this.#observe(run, null, TOOL_USE),
          onRequestEnd: (request) => this.#count(run, outcome_id, request),
          onProcess: (process) => (run.process = process),
        }),
      );
    } finally {
      stop();
    }
  }

  #observe(run: Run, thread: ThreadId | null, event: SessionEventBody): void {
    if (run === this.#run) this.#parts.hooks.observe({ type: "event", thread, id: newId("event"), event });
  }

  /** The grader's requests count like the agent's. They are logged, so that a crash does not lose their cost. */
  #count(run: Run, outcome_id: string, { model_usage, tandem }: GraderRequest): void {
    const { ledger, writer } = this.#dependencies;
    if (run !== this.#run) return;
    this.#usage = sum(this.#usage, model_usage);
    ledger.add(null, { model_usage, tandem });
    const start = newId("event");
    this.#observe(run, GRADER_THREAD, {
      type: "span.model_request_end",
      model_request_start_id: start,
      is_error: false,
      model_usage,
      tandem,
    });
    void writer.write([{ type: "tandem.grader_request", outcome_id, model_usage, tandem }]);
  }

  async #finish(run: Run, grade: Grade): Promise<void> {
    if (run !== this.#run) return;
    const { ledger, writer, onBegin, settings } = this.#dependencies;
    const { hooks, machine } = this.#parts;
    const outcome = this.active!;
    ledger.reconcile(grade.reported);
    await hooks.left();
    const result = resultOf(outcome, grade.result);
    const { events, change, end } = this.#ended(outcome, { result, explanation: grade.explanation });
    // The loss of the session cancels the run.
    if (run !== this.#run) return;
    this.#run = undefined;
    run.release();
    const message = promptOf(end);
    const accounts = [{ thread: null, body: usageEvent(ledger, writer.row) }, ...events];
    if (!message) return this.#listener.onRest({ type: "end_turn" }, accounts, change);
    await writer.place(accounts, change);
    const refusal = await hooks.admit();
    if (refusal?.reason) {
      const placed = refusal.events.map((body) => ({ thread: null, body }));
      return this.#listener.onRest(refusal.reason, placed, {});
    }
    if (!machine.turn) return;
    onBegin();
    machine.apply({ type: "begin", at: settings.clock.now(), message: message.id });
    this.#listener.onPrompt(message);
  }

  async #fail(run: Run, error: unknown): Promise<void> {
    if (run !== this.#run) return;
    await this.cancel();
    await this.#parts.hooks.left();
    const end = turnFailure(error);
    await this.#listener.onFailure(error instanceof GraderUnavailable ? { ...end, error: error.detail } : end);
  }

  #ended(
    outcome: OutcomeState,
    verdict: Pick<EvaluationEnd, "result" | "explanation">,
  ): { events: Placed[]; change: SessionChange; end: EvaluationEnd } {
    const { ledger, settings } = this.#dependencies;
    const at = isoNow(settings.clock);
    const id = newId("event");
    const usage = outcome.start_id === null ? NO_USAGE : this.#usage;
    const { body, outcome: changed } = evaluated(outcome, { ...verdict, usage }, at);
    return {
      events: [{ thread: null, id, body }],
      change: { ...this.#change(changed), usage: ledger.total, microUsd: ledger.microUsd },
      end: { ...body, id, processed_at: at },
    };
  }

  #change(outcome: OutcomeState): SessionChange {
    return { outcomes: withOutcome(this.#dependencies.writer.row, outcome) };
  }
}

/** Budgets then expect another request. */
const TOOL_USE: SessionEventBody = { type: "agent.tool_use", name: "Read", input: {}, tandem: { tool_use_id: "" } };

const sum = (a: ModelUsage, b: ModelUsage): ModelUsage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  cache_read_input_tokens: a.cache_read_input_tokens + b.cache_read_input_tokens,
  cache_creation_input_tokens: a.cache_creation_input_tokens + b.cache_creation_input_tokens,
});
