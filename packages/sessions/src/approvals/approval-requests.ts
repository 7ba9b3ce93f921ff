import type { LateResult } from "@tandem/claude-code";
import type { EventId, SessionEventBody } from "@tandem/protocol";
import { lateResult } from "./late-result.ts";
import type { OpenCall, Placed } from "../log/open-turn.ts";
import type { Rules } from "../rules/rules.ts";
import type { SessionWriter } from "../log/session-writer.ts";
import { errorDetail } from "../log/error-detail.ts";
import { type Answer, PendingApprovals } from "./pending-approvals.ts";
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
  readonly room = new PendingApprovals();
  /** Calls that were allowed after the process that asked for them had gone, each once. */
  readonly grants = new Grants();
  readonly #writer: SessionWriter;
  readonly #rules: Rules;

  constructor({ writer, rules }: { writer: SessionWriter; rules: Rules }) {
    this.#writer = writer;
    this.#rules = rules;
  }

  /** Whether what is asked can be answered without the process that asks. A subagent's call goes with it. */
  get outlivesProcess(): boolean {
    return this.room.calls.every(({ thread }) => thread === null);
  }

  inherit(inherited: InheritedRequests): void {
    for (const call of inherited.waiting) {
      void this.room.enter(call);
      this.#writer.open.set(call.use.id, call);
    }
    for (const { call, answer } of inherited.answered) this.room.remember(call, answer);
    for (const call of inherited.grants) this.grants.add(call);
    this.room.announcedBefore(inherited.announced);
  }

  /**
   * Takes an answer into the log and hands it over. `late`: the process that asked is gone. Undefined if nothing waits for
   * it; else whether the session has other settings now.
   */
  async take(answer: Answer, late: boolean): Promise<{ isChanged: boolean } | undefined> {
    const asked = this.room.find(answer);
    if (asked) await this.#saveRule(asked, answer);
    // It may have come to its end meanwhile.
    const call = this.room.find(answer);
    if (!call) return undefined;
    const settled = settleAnswer(call, answer, { row: this.#writer.row, late });
    const handOver = this.room.answer(call, answer);
    const next = this.room.announcement();
    const following: Placed[] = [...settled.events, ...(next ? [{ thread: null, body: next }] : [])];
    const taken = { ...answer, session_thread_id: call.thread };
    await this.#writer.take(taken, following, { ...this.room.standing, ...settled.change }, call.thread);
    const grant = late ? grantOf(call, answer) : undefined;
    if (grant) this.grants.add(grant);
    handOver();
    return { isChanged: settled.change.metadata !== undefined };
  }

  /** Answers that no process has come to ask for, and none will: they are told to a new one. */
  takeLate(): LateResult[] {
    return this.room.takeEarly().map(lateResult);
  }

  /** A call that has its result asks nobody any more. */
  observe(event: SessionEventBody): void {
    if (event.type === "agent.tool_result") this.#leave(event.tool_use_id);
    if (event.type === "agent.mcp_tool_result") this.#leave(event.mcp_tool_use_id);
  }

  /** What is said of those that nobody has answered when the turn ends. */
  unanswered(): Placed[] {
    return this.room.calls.flatMap(cancellation);
  }

  clear(): void {
    this.room.clear();
    this.grants.clear();
  }

  #leave(id: EventId): void {
    const unanswered = this.room.leave(id);
    if (unanswered) void this.#writer.place(cancellation(unanswered));
  }

  /** What a person said about this call counts also where the rule about its like cannot be kept. */
  async #saveRule(call: OpenCall, answer: Answer): Promise<void> {
    try {
      await saveRule(call, answer, this.#writer.row, this.#rules);
    } catch (error) {
      const text = `The rule could not be saved: ${errorDetail(error).message}`;
      void this.#writer.write([{ type: "tandem.notice", level: "warning", text }]);
    }
  }
}
