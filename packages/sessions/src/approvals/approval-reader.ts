import type {
  Approval,
  ApprovalOutcome,
  EventId,
  EventOf,
  LoggedEvent,
  SessionId,
  ToolCallState,
} from "@tandem/protocol";
import { listAll, recordPages, type SessionRow, type Store } from "@tandem/storage";
import { z } from "zod";
import type { OpenCall } from "../log/open-turn.ts";
import { unansweredCalls } from "../log/unanswered-calls.ts";
import { isApproval } from "./outcome.ts";

const SPACE = "approvals";
const KIND = "approval";
const PAGE = 200;

const entry = z.object({ session: z.string() });

export interface FoundApproval {
  row: SessionRow;
  call: OpenCall;
  seq: number;
  approval: Approval;
}

/**
 * Reads approvals from logs. Rows of sessions list the pending ones. For others, an index maps the id to the session; it only
 * locates them and is never the source of truth.
 */
export class ApprovalReader {
  readonly #store: Store;
  /** Index writes in flight: a subscriber that reacts to the commit may query before they finish. */
  readonly #indexing = new Map<string, SessionId>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Indexes an approval. */
  async index(id: string, session: SessionId): Promise<void> {
    this.#indexing.set(id, session);
    try {
      await this.#store.records.write(SPACE, [{ type: "put", kind: KIND, key: id, value: { session } }]);
    } finally {
      this.#indexing.delete(id);
    }
  }

  /** The inbox, newest first: pending approvals, and allowed calls that have not started. */
  async pending(session?: string): Promise<FoundApproval[]> {
    const found: FoundApproval[] = [];
    for await (const row of this.#waitingRows(session)) {
      for (const { event_id: id } of row.waitingFor) {
        const approval = await this.#read(row, id);
        const { status, state } = approval?.approval ?? {};
        if (approval && (status === "pending" || state === "allowed")) found.push(approval);
      }
    }
    return found.sort((a, b) => (a.approval.id < b.approval.id ? 1 : -1));
  }

  async find(id: string): Promise<FoundApproval | undefined> {
    const session = this.#indexing.get(id) ?? (await this.#indexed(id));
    const row = session && (await this.#store.sessions.get(session));
    if (row) return this.#read(row, id);
    for await (const waiting of this.#waitingRows()) {
      if (waiting.waitingFor.some(({ event_id: event }) => event === id)) return this.#read(waiting, id);
    }
    return undefined;
  }

  /** Resolved approvals, newest first, before `cursor`. */
  async resolved(query: { session?: string; limit: number; cursor?: string }): Promise<Approval[]> {
    const found: Approval[] = [];
    const range = { order: "desc" as const, after: query.cursor, pageSize: PAGE };
    for await (const records of recordPages(this.#store.records, SPACE, KIND, range)) {
      for (const { key, value } of records) {
        const { session } = entry.parse(value);
        if (query.session !== undefined && session !== query.session) continue;
        const row = await this.#store.sessions.get(session);
        const approval = row && (await this.#read(row, key));
        // A deleted session has no approvals to show.
        if (!row) await this.#store.records.write(SPACE, [{ type: "delete", kind: KIND, key }]);
        if (approval?.approval.status === "resolved") found.push(approval.approval);
        if (found.length === query.limit) return found;
      }
    }
    return found;
  }

  async #indexed(id: string): Promise<string | undefined> {
    const record = await this.#store.records.get(SPACE, KIND, id);
    return entry.safeParse(record?.value).data?.session;
  }

  async *#waitingRows(session?: string): AsyncGenerator<SessionRow> {
    if (session !== undefined) {
      const row = await this.#store.sessions.get(session);
      if (row) yield row;
      return;
    }
    yield* listAll((query) => this.#store.sessions.list({ ...query, waiting: true }));
  }

  async #read(row: SessionRow, id: string): Promise<FoundApproval | undefined> {
    const logged = await this.#store.events.find(row.id, id);
    const call = logged && asCall(logged);
    if (!call || !isApproval(call)) return undefined;
    const progress = await this.#progress(row.id, logged.seq, call.use.id);
    return { row, call, seq: logged.seq, approval: await this.#view(row, call, progress) };
  }

  async #progress(session: SessionId, seq: number, id: EventId): Promise<Progress> {
    const types = ["tandem.approval_resolved", "tandem.tool_state"];
    const progress: Progress = {};
    for (let after = seq; ;) {
      const page = await this.#store.events.read(session, { after, types, limit: PAGE });
      for (const { event } of page) {
        if (event.type === "tandem.tool_state" && event.event_id === id) progress.state = event.state;
        if (event.type !== "tandem.approval_resolved" || event.event_id !== id) continue;
        const { type: _, id: __, processed_at: ___, event_id: ____, ...outcome } = event;
        progress.outcome = outcome;
      }
      // The rest of a long log has no more of it.
      if (page.length < PAGE || (progress.outcome && isFinal(progress.state))) return progress;
      after = page.at(-1)!.seq;
    }
  }

  async #view(row: SessionRow, { use, thread }: OpenCall, { outcome, state }: Progress): Promise<Approval> {
    const { verdict, approval } = use.tandem;
    const isAsked = unansweredCalls(row).some(({ event_id: id, type }) => id === use.id && type !== "tool_result");
    return {
      type: "approval",
      id: use.id,
      kind: approval?.kind ?? "tool",
      session_id: row.id,
      session_title: row.title,
      session_thread_id: thread,
      agent_name: thread === null ? row.agent.name : await this.#agentOf(row, thread),
      folder: row.folder,
      tool: use.name,
      ...(use.type === "agent.mcp_tool_use" && { mcp_server_name: use.mcp_server_name }),
      input: use.input,
      ...(verdict && { verdict: { ...verdict } }),
      ...(approval?.diff && { diff: approval.diff }),
      ...(approval?.plan !== undefined && { plan: approval.plan }),
      ...(approval?.suggestion && { suggestion: approval.suggestion }),
      created_at: use.processed_at ?? row.updatedAt,
      expires_at: approval?.expires_at ?? null,
      // A call that was allowed and could not start is asked about again.
      status: outcome && !isAsked ? "resolved" : "pending",
      ...((state ?? !outcome) && { state: state ?? "waiting" }),
      resolved: outcome ?? null,
    };
  }

  async #agentOf(row: SessionRow, thread: string): Promise<string> {
    const threads = await this.#store.sessions.threads(row.id);
    return threads.find(({ id }) => id === thread)?.agent.name ?? "subagent";
  }
}

interface Progress {
  outcome?: ApprovalOutcome;
  state?: ToolCallState;
}

const isFinal = (state: ToolCallState | undefined): boolean =>
  state !== undefined && !["waiting", "allowed", "running", "unknown"].includes(state);

type Use = EventOf<"agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use">;

/** The call, if the event is one. */
export const asCall = ({ thread, event }: Pick<LoggedEvent, "thread" | "event">): OpenCall | undefined =>
  event.type === "agent.tool_use" || event.type === "agent.mcp_tool_use" || event.type === "agent.custom_tool_use"
    ? { thread, use: event satisfies Use }
    : undefined;
