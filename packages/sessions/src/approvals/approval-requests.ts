import type { LateResult } from "@tandem/claude-code";
import type { EventId, SessionEventBody } from "@tandem/protocol";
import { lateResult } from "./late-result.ts";
import type { OpenCall, Placed } from "../log/open-turn.ts";
import type { Rules } from "../rules/rules.ts";
import type { SessionWriter } from "../log/session-writer.ts";
import { errorDetail } from "../log/error-detail.ts";
import { PendingApprovals, type CallState } from "./pending-approvals.ts";
import { announcement, answeredCall, callStatus, unanswered, type Answer } from "./pending-calls.ts";
import { grantOf, Grants, type openGrants } from "./grants.ts";
import { cancellation } from "./outcome.ts";
import { saveRule, settleAnswer } from "./settle-answer.ts";

/** Requests and answers that a former writer left in the log. */
export interface InheritedRequests {
  /** Calls that can still be answered. */
  waiting: OpenCall[];
  /** Those of them that clients have been told of. */
  announced: EventId[];
  /** Answers that may not have reached the model: results of custom tools, and answers that came without a process. */
  answered: { call: OpenCall; answer: Answer }[];
  /** Calls that were allowed without a process, and not made since. */
  grants: ReturnType<typeof openGrants>;
}

/** The approvals and custom tool results that a session's turn requests, and their events in the log. */
export class ApprovalRequests {
  readonly pending: PendingApprovals;
  /** Calls that were allowed after their process had gone. Each may be made once. */
  readonly grants = new Grants();
  readonly #state: CallState;
  readonly #writer: SessionWriter;
  readonly #rules: Rules;

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
    }
    for (const call of inherited.grants) this.grants.add(call);
    this.#state.apply({ type: "calls.announced", ids: inherited.announced });
  }

  /**
   * Logs an answer and hands it over. `late`: the process that asked is gone. Returns undefined if no call waits for it, else
   * whether the answer changed the session's settings.
   */
  async take(answer: Answer, late: boolean): Promise<{ isChanged: boolean } | undefined> {
    const asked = answeredCall(this.#state.calls, answer);
    if (asked) await this.#saveRule(asked, answer);
    // The call may have ended meanwhile.
    const call = answeredCall(this.#state.calls, answer);
    if (!call) return undefined;
    const settled = settleAnswer(call, answer, { row: this.#writer.row, late });
    const handOver = this.pending.answer(call, answer);
    const next = announcement(this.#state.calls);
    if (next) this.#state.apply({ type: "calls.announced", ids: next.ids });
    const following: Placed[] = [...settled.events, ...(next ? [{ thread: null, body: next.event }] : [])];
    const taken = { ...answer, session_thread_id: call.thread };
    const change = { ...callStatus(this.#state.calls), ...settled.change };
    await this.#writer.take(taken, following, change, call.thread);
    const grant = late ? grantOf(call, answer) : undefined;
    if (grant) this.grants.add(grant);
    handOver();
    return { isChanged: settled.change.metadata !== undefined };
  }

  /** Takes the answers that no process fetched, for a new process. */
  takeLate(): LateResult[] {
    return this.pending.takeUndelivered().map(lateResult);
  }

  /** A call that has its result needs no answer. */
  observe(event: SessionEventBody): void {
    if (event.type === "agent.tool_result") this.#leave(event.tool_use_id);
    if (event.type === "agent.mcp_tool_result") this.#leave(event.mcp_tool_use_id);
  }

  /** The events that cancel unanswered calls at the end of a turn. */
  unanswered(): Placed[] {
    return unanswered(this.#state.calls).flatMap(cancellation);
  }

  clear(): void {
    this.pending.clear();
    this.grants.clear();
  }

  #leave(id: EventId): void {
    const call = unanswered(this.#state.calls).find(({ use }) => use.id === id);
    this.#state.apply({ type: "call.closed", id });
    if (call) void this.#writer.place(cancellation(call));
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
