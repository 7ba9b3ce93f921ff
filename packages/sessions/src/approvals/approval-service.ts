import { isDeepStrictEqual } from "node:util";
import {
  isWorkerTool,
  RequestError,
  type Approval,
  type ApprovalAnswer,
  type ApprovalStatus,
  type Rule,
  type SessionEvent,
  type SessionId,
  WORKER_TOOLS,
  type Clock,
} from "@tandem/protocol";
import { logEvents, type Store } from "@tandem/storage";
import type { HostAccount } from "@tandem/policy";
import type { Rules } from "../rules/kept-rules.ts";
import { isAnswer, type Answer } from "./pending-calls.ts";
import { answeredCall, answerEvent, expiredAnswer } from "./answer-event.ts";
import { ApprovalReader, asCall, type FoundApproval } from "./approval-reader.ts";
import { isApproval } from "./outcome.ts";
import { isWorkerCall } from "../log/open-turn.ts";

/** How long to wait until an answer is taken. It is durable before that; only its outcome is unknown. */
const TAKEN_MS = 10_000;
const ANSWERS = ["user.tool_confirmation", "user.custom_tool_result"];
const SOME = 100;

/** Pending and resolved approvals of all sessions. Answers are queued at sessions, whose writers decide which came first. */
export class ApprovalService {
  readonly #store: Store;
  readonly #reader: ApprovalReader;
  readonly #wake: (session: SessionId) => void;
  readonly #account: HostAccount;
  readonly #clock: Clock;
  readonly #rules: Pick<Rules, "rulesOf">;

  constructor(
    store: Store,
    parts: {
      wake: (session: SessionId) => void;
      account: HostAccount;
      rules: Pick<Rules, "rulesOf">;
      log: Log;
      clock: Clock;
    },
  ) {
    this.#store = store;
    this.#reader = new ApprovalReader(store);
    this.#wake = parts.wake;
    this.#account = parts.account;
    this.#clock = parts.clock;
    this.#rules = parts.rules;
    store.events.onAppend((session, events) => {
      for (const logged of events) {
        const call = asCall(logged);
        if (!call || !isApproval(call)) continue;
        this.#reader.index(call.use.id, session).catch((error: unknown) => {
          parts.log.warn({ session, error: String(error) }, "an approval could not be indexed");
        });
      }
    });
  }

  /** Newest first. `cursor` is the `next` of the previous page. */
  async list({
    status,
    session,
    limit,
    cursor,
  }: {
    status: ApprovalStatus;
    session?: string;
    limit: number;
    cursor?: string;
  }): Promise<{ data: Approval[]; next: string | null }> {
    const of = { ...(session !== undefined && { session }), ...(cursor !== undefined && { cursor }) };
    const found =
      status === "resolved"
        ? await this.#reader.resolved({ ...of, limit: limit + 1 })
        : (await this.pending(session)).filter(({ id }) => cursor === undefined || id < cursor);
    const data = found.slice(0, limit);
    return { data, next: found.length > limit ? data.at(-1)!.id : null };
  }

  /** All pending approvals, newest first; also indexes them, whichever process created them. */
  async pending(session?: string): Promise<Approval[]> {
    const found = await this.#reader.pending(session);
    return found.map(({ approval }) => approval);
  }

  async get(id: string): Promise<Approval> {
    return (await this.#find(id)).approval;
  }

  /**
   * Answers in the name of `by`. The first answer wins: others get `conflict` with the first caller's name. Repeating the same
   * answer is allowed. Resolves when the answer is taken, or after some seconds while it is durably queued. `mayKeepRules`
   * permits rules that outlive the session or are wider than the suggestion.
   */
  async answer(id: string, answer: ApprovalAnswer, by: string, mayKeepRules = false): Promise<Approval> {
    const found = await this.#find(id);
    const { row, approval } = found;
    const sessionRules = await this.#rules.rulesOf({ id: row.id, agentId: row.agent.id, folder: row.folder });
    const isRemote = isWorkerCall(found.call);
    if (isRemote && answer.input !== undefined) {
      throw new RequestError("invalid_request", "input: a worker runs this call with the input of its event.", {
        fix: "Deny it, and say what to change.",
      });
    }
    const call = {
      name: isRemote && isWorkerTool(approval.tool) ? WORKER_TOOLS[approval.tool] : approval.tool,
      input: approval.input,
      thread: null,
      ...(approval.mcp_server_name !== undefined && { mcpServer: approval.mcp_server_name }),
    };
    const covers = (rule: Rule): boolean => sessionRules.covers(rule, call);
    const event = answerEvent(approval, answer, by, { account: this.#account, mayKeepRules, covers });
    const before = await this.#given(found);
    if (before && canAnswerAgain(approval, answer)) return this.#putAgain(found, event);
    if (before) return this.#settled(found, event, before);
    return this.#put(found, event);
  }

  /** Denies expired requests. An earlier answer wins. */
  async expire(id: string): Promise<void> {
    const found = await this.#reader.find(id);
    if (found?.approval.status !== "pending" || (await this.#given(found))) return;
    await this.#store.inputQueue.put(found.row.id, [expiredAnswer(found.approval)]);
    this.#wake(found.row.id);
  }

  async index(id: string, session: string): Promise<void> {
    await this.#reader.index(id, session as SessionId);
  }

  async #find(id: string): Promise<FoundApproval> {
    const found = await this.#reader.find(id);
    if (found) return found;
    throw new RequestError("not_found", `There is no approval ${id}.`, {
      fix: "It is the id of the event (sevt_…): `GET /v1/approvals` lists them.",
    });
  }

  async #put(found: FoundApproval, event: Answer): Promise<Approval> {
    const { id } = found.row;
    const after = await this.#store.events.head(id);
    await this.#store.inputQueue.put(id, [event]);
    this.#wake(id);
    await this.#taken(id, after, event.id);
    const now = await this.#find(found.approval.id);
    const won = await this.#given(now);
    return won ? this.#settled(now, event, won) : now.approval;
  }

  /** Dismisses an allowed call that has not started, or runs one that could not start. */
  async #putAgain({ row: { id }, approval }: FoundApproval, event: Answer): Promise<Approval> {
    const after = await this.#store.events.head(id);
    await this.#store.inputQueue.put(id, [markAgain(event)]);
    this.#wake(id);
    await this.#taken(id, after, event.id);
    const dropped = await this.#store.events.read(id, { after, types: ["tandem.dropped"], limit: SOME });
    if (dropped.some((logged) => logged.event.type === "tandem.dropped" && logged.event.event_id === event.id)) {
      throw new RequestError("conflict", `The call ${approval.id} has started or was dismissed meanwhile.`);
    }
    return (await this.#find(approval.id)).approval;
  }

  /** Resolves when an answer has left the input queue, or at the deadline. */
  async #taken(session: SessionId, after: number, id: string): Promise<void> {
    const late = new AbortController();
    // If another process takes the answer, only this timer keeps this process alive.
    const cancel = this.#clock.after(TAKEN_MS, () => late.abort(), { keepsProcess: true });
    try {
      for await (const events of this.#store.events.follow(session, after, late.signal)) {
        if (events.some(({ event }) => event.id === id)) return;
      }
    } finally {
      cancel();
    }
  }

  /** The first answer: from the log, else from the input queue; `tandem` if no person answered, undefined if it is open. */
  async #given({ row, seq, approval }: FoundApproval): Promise<Answer | "tandem" | undefined> {
    // Read the queue before the log: an event moved between the two reads is then seen twice, never lost.
    const waiting = await this.#store.inputQueue.list(row.id);
    const answers = (event: SessionEvent): event is Answer => isAnswer(event) && answeredCall(event) === approval.id;
    for await (const { event } of logEvents(this.#store.events, row.id, { after: seq, types: ANSWERS })) {
      if (!answers(event)) continue;
      if (isOwn(event) && approval.status === "resolved") break;
      return event;
    }
    return approval.status === "resolved" ? "tandem" : waiting.find(answers);
  }

  /** The approval, if this answer is the one that counts. */
  async #settled({ approval }: FoundApproval, event: Answer, first: Answer | "tandem"): Promise<Approval> {
    if (first !== "tandem" && isSame(event, first)) {
      // A request cancelled before its answer was taken counts as unanswered.
      if (approval.resolved === null || !["cancelled", "expired"].includes(approval.resolved.outcome)) return approval;
    }
    const { outcome, by, at } = approval.resolved ?? {
      outcome: "answered",
      by: first === "tandem" ? "tandem" : (first.tandem?.by ?? "unknown"),
      at: null,
    };
    const end =
      outcome === "cancelled"
        ? "was cancelled: its turn ended first"
        : outcome === "expired"
          ? `has expired, at ${at}`
          : `has been ${outcome} already by ${by}${at ? `, at ${at}` : ""}`;
    throw new RequestError("conflict", `The approval ${approval.id} ${end}.`);
  }
}

export type Approvals = Omit<ApprovalService, "pending" | "expire" | "index">;

/** An allowed call that has not started can be dismissed; if no process could be started for it, it can be allowed again. */
const canAnswerAgain = ({ state, status }: Approval, { result }: ApprovalAnswer): boolean =>
  state === "allowed" && (result === "deny" || status === "pending");

/** A denial that races with an approval must not dismiss it, so a dismissal is marked. */
const markAgain = (event: Answer): Answer =>
  event.type === "user.tool_confirmation" && event.tandem
    ? { ...event, tandem: { ...event.tandem, again: true } }
    : event;

interface Log {
  warn(details: Record<string, unknown>, message: string): void;
}

/** The closing of an unanswerable call is written in the form of an answer. */
const isOwn = (answer: Answer): boolean =>
  answer.type === "user.custom_tool_result" && answer.tandem?.interrupted !== undefined;

const isSame = (a: Answer, b: Answer): boolean => isDeepStrictEqual(said(a), said(b));

function said(answer: Answer): unknown {
  const { id: _, processed_at: __, session_thread_id: ___, ...rest } = answer;
  return rest;
}
