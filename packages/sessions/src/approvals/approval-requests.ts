import type { LateResult } from "@tandem/claude-code";
import { newId, type EventId, type EventOf, type SessionEventBody } from "@tandem/protocol";
import { CallRefused } from "./call-refused.ts";
import { deniedResult, lateResult, replacedResult, reportedResult } from "./late-result.ts";
import { resultOf, type OpenCall, type Placed } from "../log/open-turn.ts";
import type { Rules } from "../rules/kept-rules.ts";
import type { SessionWriter } from "../log/session-writer.ts";
import { errorDetail } from "../log/error-detail.ts";
import { PendingApprovals, type CallState } from "./pending-approvals.ts";
import {
  allowedCalls,
  allowsRun,
  announcement,
  answeredCall,
  callStatus,
  repeatedAnswer,
  runningCalls,
  savedCalls,
  unanswered,
  type Answer,
} from "./pending-calls.ts";
import { replacedId, replacement, type LegacyGrant } from "./legacy-grants.ts";
import { cancellation, isApproval } from "./outcome.ts";
import { knownOutcome, outcomeQuestion, type KnownOutcome } from "./outcome-question.ts";
import { saveRule, settleAnswer } from "./settle-answer.ts";
import { toolState } from "./tool-state.ts";

/** A call that may run now, in a process that did not make it. */
export interface LateCall {
  call: OpenCall;
  /** The input that a person changed it to. */
  input?: Record<string, unknown>;
}

/** Answers that came without a process: results for the model, and calls that may run now. */
export interface LateAnswers {
  results: LateResult[];
  calls: LateCall[];
}

/** Requests and answers that a former writer left in the log. */
export interface InheritedRequests {
  /** Calls that can still be answered. */
  waiting: OpenCall[];
  /** Those of them that clients have been told of. */
  announced: EventId[];
  /** Answers that may not have reached the model: results of custom tools, and answers that came without a process. */
  answered: { call: OpenCall; answer: Answer }[];
  /** Calls that a person allowed and a process had started. They may have run. */
  started: { call: OpenCall; answer: Answer }[];
  /** Those of them whose outcome no person was asked for yet. */
  unknown: OpenCall[];
  /** Calls that version 0.1 allowed the model to repeat, and that were not repeated. */
  grants: LegacyGrant[];
}

function allowedCall(call: OpenCall, answer: Answer): LateCall {
  const input = answer.type === "user.tool_confirmation" ? answer.tandem?.input : undefined;
  return { call, ...(input && { input }) };
}

/** The approvals and custom tool results that a session's turn requests, and their events in the log. */
export class ApprovalRequests {
  readonly pending: PendingApprovals;
  readonly #state: CallState;
  readonly #writer: SessionWriter;
  readonly #rules: Rules;
  /** Results that no process could be started for. */
  readonly #pendingResults: LateResult[] = [];

  constructor({ writer, rules, state }: { writer: SessionWriter; rules: Rules; state: CallState }) {
    this.#state = state;
    this.pending = new PendingApprovals(state);
    this.#writer = writer;
    this.#rules = rules;
  }

  inherit(inherited: InheritedRequests): void {
    for (const call of inherited.waiting) {
      void this.pending.enter(call);
      this.#writer.open.set(call.use.id, call);
    }
    for (const { call, answer } of inherited.answered) {
      this.#state.apply({ type: "call.inherited", call, answer });
      if (allowsRun({ call, answer })) this.#writer.open.set(call.use.id, call);
    }
    for (const { call, answer } of inherited.started) {
      this.#state.apply({ type: "call.inherited", call, answer });
      this.#state.apply({ type: "call.started", id: call.use.id });
      if (!inherited.unknown.includes(call)) this.#state.apply({ type: "call.unknown", id: call.use.id });
      this.#writer.open.set(call.use.id, call);
    }
    for (const grant of inherited.grants) this.#allowGrant(grant);
    this.#state.apply({ type: "calls.announced", ids: inherited.announced });
  }

  #allowGrant(grant: LegacyGrant): void {
    const id = newId("event");
    void this.#writer.record(null, id, replacement(grant), {});
    void this.#writer.place([toolState(id, "allowed")]);
    const call = this.#writer.open.get(id);
    if (call) this.#state.apply({ type: "call.inherited", call, answer: grant.answer });
  }

  /**
   * Logs an answer and hands it over. `late`: the process that asked is gone. Returns undefined if no call waits for it, else
   * whether the answer changed the session's settings.
   */
  async take(given: Answer, late: boolean): Promise<{ isChanged: boolean } | undefined> {
    const answer = repeatedAnswer(this.#state.calls, given);
    const asked = answeredCall(this.#state.calls, answer);
    if (asked) await this.#saveRule(asked, answer);
    // The call may have ended meanwhile.
    const call = answeredCall(this.#state.calls, answer);
    if (!call) return undefined;
    const settled = settleAnswer(call, answer, { row: this.#writer.row, late, at: this.#writer.now });
    const handOver = this.pending.answer(call, answer);
    const next = announcement(this.#state.calls);
    if (next) this.#state.apply({ type: "calls.announced", ids: next.ids });
    const following: Placed[] = [...settled.events, ...(next ? [{ thread: null, body: next.event }] : [])];
    const taken = { ...answer, session_thread_id: call.thread };
    const change = { ...callStatus(this.#state.calls), ...settled.change };
    await this.#writer.take(taken, following, change, call.thread);
    handOver();
    return { isChanged: settled.change.metadata !== undefined };
  }

  /** Takes the answers that no process fetched, for a new process: results for the model, and calls that may run now. */
  takeLate(): LateAnswers {
    const late: LateAnswers = { results: this.#pendingResults.splice(0), calls: [] };
    for (const { call, answer } of this.pending.takeUndelivered()) {
      const asked = call.use.tandem.outcome_of;
      const about = asked === undefined ? undefined : this.#writer.open.get(asked);
      if (about) this.#takeOutcome(late, about, knownOutcome(call, answer));
      else if (allowsRun({ call, answer }) && call.thread === null) {
        const replaced = replacedId(call.use);
        if (replaced !== undefined) late.results.push(replacedResult(replaced));
        late.calls.push(allowedCall(call, answer));
      } else {
        // A subagent's call: the answer has logged that it did not run.
        if (allowsRun({ call, answer })) this.#state.apply({ type: "call.closed", id: call.use.id });
        late.results.push(lateResult({ call, answer }));
      }
    }
    return late;
  }

  #takeOutcome(late: LateAnswers, call: OpenCall, outcome: KnownOutcome): void {
    const known = this.#state.calls.calls.get(call.use.id);
    if (outcome === "again" && known && "answer" in known) {
      this.#state.apply({ type: "call.inherited", call, answer: known.answer });
      late.calls.push(allowedCall(call, known.answer));
      return;
    }
    this.#state.apply({ type: "call.closed", id: call.use.id });
    const result = reportedResult(call, outcome === "worked" ? "worked" : "failed");
    late.results.push(result);
    const { content, isError } = result;
    const state = toolState(call.use.id, isError ? "failed" : "done");
    void this.#writer.place([resultOf(call, { content: [...content], is_error: isError }), state]);
  }

  /** A process is about to run a call. Resolves when that is durable; rejects if the call was dismissed. */
  async started(id: EventId): Promise<void> {
    if (!this.isAllowed(id)) throw new CallRefused();
    this.#state.apply({ type: "call.started", id });
    const { waitingFor } = callStatus(this.#state.calls);
    await this.#writer.place([toolState(id, "running")], waitingFor && { waitingFor });
  }

  /** Whether a call is allowed and has not started. */
  isAllowed(id: EventId): boolean {
    return allowedCalls(this.#state.calls).some(({ use }) => use.id === id);
  }

  /**
   * No process could be started for the allowed calls: a person allows them again or dismisses them. The next process gets
   * `results`. Returns the events that say so; none if no allowed call is left.
   */
  hold(results: readonly LateResult[], reason: string): Placed[] {
    const calls = allowedCalls(this.#state.calls).filter(({ thread }) => thread === null);
    if (calls.length === 0) return [];
    this.#pendingResults.push(...results);
    for (const { use } of calls) this.#state.apply({ type: "call.held", id: use.id });
    return calls.map(({ use }) => toolState(use.id, "allowed", reason));
  }

  /** An allowed call will not run: a person dismissed it, or a rule denies it now. Returns the result for the model. */
  async refuse(call: OpenCall, reason?: string): Promise<LateResult> {
    const known = this.#state.calls.calls.get(call.use.id);
    const answer = known && "answer" in known ? known.answer : undefined;
    this.#state.apply({ type: "call.closed", id: call.use.id });
    const result = reason === undefined && answer ? lateResult({ call, answer }) : deniedResult(call, reason);
    const { content, isError } = result;
    const isLogged = !this.#writer.open.has(call.use.id);
    if (isLogged) return result;
    const state = reason === undefined ? [] : [toolState(call.use.id, "denied", reason)];
    const { waitingFor } = callStatus(this.#state.calls);
    const event = resultOf(call, { content: [...content], is_error: isError });
    await this.#writer.place([event, ...state], waitingFor && { waitingFor });
    return result;
  }

  /** A call that has its result needs no answer. */
  observe(event: SessionEventBody): void {
    if (event.type === "agent.tool_result") this.#close(event.tool_use_id, event);
    if (event.type === "agent.mcp_tool_result") this.#close(event.mcp_tool_use_id, event);
  }

  /**
   * Calls of the primary thread that survive the death of their process. An unsaved call does not: the transcript lacks it,
   * so it could not run, and no client was asked yet.
   */
  get survivors(): OpenCall[] {
    const { calls } = this.#state;
    const kept = [...savedCalls(calls), ...allowedCalls(calls), ...runningCalls(calls)];
    return kept.filter(({ thread }) => thread === null);
  }

  /** Whether a person was asked about a call, and it has not started. */
  isUnstarted = (id: EventId): boolean => {
    const known = this.#state.calls.calls.get(id);
    return known !== undefined && isApproval(known.call) && known.status !== "running" && known.status !== "unknown";
  };

  /** The process of these calls died. Returns the events that say that those of a person did not run. */
  interrupt(calls: readonly OpenCall[]): Placed[] {
    return calls.flatMap((call) => {
      const events = this.#ending(call);
      this.#state.apply({ type: "call.closed", id: call.use.id });
      return events;
    });
  }

  /** The process died while these calls ran: asks a person for their outcome. */
  askOutcomes(calls: readonly OpenCall[]): void {
    for (const call of calls) {
      const { id } = call.use;
      this.#state.apply({ type: "call.unknown", id });
      void this.#writer.place([toolState(id, "unknown", "The process died while the call was running.")]);
      const question = outcomeQuestion(call);
      void this.#writer.record(null, question.id, question.body, {});
      const asked = this.#writer.open.get(question.id);
      if (asked) void this.pending.enter(asked);
    }
  }

  /** Calls whose process died while a person had allowed them and they ran. */
  get running(): OpenCall[] {
    return runningCalls(this.#state.calls).filter(({ thread }) => thread === null);
  }

  /** The events for calls that the end of a turn leaves open. */
  endings(): Placed[] {
    return [...this.#state.calls.calls.values()].flatMap(({ call }) => this.#ending(call));
  }

  #ending(call: OpenCall): Placed[] {
    const known = this.#state.calls.calls.get(call.use.id);
    switch (known?.status) {
      case "unsaved":
      case "waiting":
        return cancellation(call, this.#writer.now);
      case "running":
        return [toolState(call.use.id, "unknown", "The turn ended while it ran.")];
      case "answering":
      case "answered":
      case "held":
        return allowsRun(known) ? [toolState(call.use.id, "interrupted", "The turn ended before it ran.")] : [];
      default:
        return [];
    }
  }

  clear(): void {
    this.#pendingResults.length = 0;
    this.pending.clear();
  }

  #close(id: EventId, { is_error: isError, tandem }: Pick<EventOf<"agent.tool_result">, "is_error" | "tandem">): void {
    const { calls } = this.#state;
    const call = unanswered(calls).find(({ use }) => use.id === id);
    const isRunning = runningCalls(calls).some(({ use }) => use.id === id);
    const isStopped = this.isAllowed(id);
    this.#state.apply({ type: "call.closed", id });
    if (call) void this.#writer.place(cancellation(call, this.#writer.now));
    const { waitingFor } = callStatus(this.#state.calls);
    // A hook of the host denied it after the person had allowed it.
    if (isStopped) void this.#writer.place([toolState(id, "denied")], waitingFor && { waitingFor });
    if (isRunning) {
      const state = tandem?.interrupted ? "unknown" : isError ? "failed" : "done";
      void this.#writer.place([toolState(id, state)]);
    }
  }

  /** The answer counts even if its rule cannot be saved. */
  async #saveRule(call: OpenCall, answer: Answer): Promise<void> {
    try {
      await saveRule(call, answer, this.#writer.row, this.#rules);
    } catch (error) {
      const text = `The rule could not be saved: ${errorDetail(error).message}`;
      void this.#writer.write([{ type: "tandem.notice", level: "warning", text }]);
    }
  }
}
