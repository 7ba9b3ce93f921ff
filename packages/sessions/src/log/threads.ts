import {
  type SessionEvent,
  type SessionStatus,
  type ThreadAgent,
  type ThreadId,
  type Tool,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import type { SessionRow, ThreadRow } from "@tandem/storage";
import { workflowsOf } from "./open-runs.ts";
import { rosterOf } from "./agent-roster.ts";
import type { UsageLedger } from "./usage-ledger.ts";

const STATUSES: Record<string, SessionStatus> = {
  "session.thread_status_running": "running",
  "session.thread_status_idle": "idle",
  "session.thread_status_rescheduled": "rescheduling",
  "session.thread_status_terminated": "terminated",
};

/** The threads of a session, built from its events. */
export class Threads {
  readonly #session: SessionRow;
  readonly #roster: readonly ThreadAgent[];
  /** The saved agents that workflow runs may use. */
  readonly #ofWorkflows: readonly ThreadAgent[];
  readonly #clock: Clock;
  readonly #rows: Map<ThreadId, ThreadRow>;
  readonly #changed = new Set<ThreadId>();

  constructor(session: SessionRow, rows: readonly ThreadRow[], clock: Clock) {
    this.#clock = clock;
    this.#session = session;
    this.#roster = rosterOf(session.agent);
    this.#ofWorkflows = workflowsOf(session.agent)?.predefined_agents ?? [];
    this.#rows = new Map(rows.map((row) => [row.id, row]));
  }

  /** `thread` is the event's thread. */
  note(thread: ThreadId | null, event: SessionEvent): void {
    const at = event.processed_at ?? isoNow(this.#clock);
    if (event.type === "session.thread_created") {
      this.#put({
        id: event.session_thread_id,
        session: this.#session.id,
        parent: thread ?? this.#session.primaryThread,
        agent: this.#agent(event.agent_name, event.workflow_run_id === null ? this.#roster : this.#ofWorkflows),
        status: "running",
        usage: null,
        createdAt: at,
        updatedAt: at,
        archivedAt: null,
        ...(event.workflow_run_id !== null && { workflowRunId: event.workflow_run_id }),
      });
      return;
    }
    // The usage of a subagent's last request comes from its transcript, which can arrive after the thread became idle.
    if (event.type === "span.model_request_end" && thread !== null && this.#rows.has(thread)) this.#changed.add(thread);
    const status = STATUSES[event.type];
    if (!status || !("session_thread_id" in event)) return;
    const row = this.#rows.get(event.session_thread_id as ThreadId);
    // An archived thread never runs again.
    if (!row || row.archivedAt) return;
    this.#put({ ...row, status, updatedAt: at, archivedAt: status === "terminated" ? at : null });
  }

  rowOf(thread: ThreadId): ThreadRow | undefined {
    return this.#rows.get(thread);
  }

  /** The agent of a thread, if it is in the roster. */
  agentOf(thread: ThreadId): string | undefined {
    const agent = this.#rows.get(thread)?.agent;
    return agent?.type === "agent" ? agent.id : undefined;
  }

  toolsOf(thread: ThreadId): readonly Tool[] | undefined {
    const agent = this.#rows.get(thread)?.agent;
    return agent?.type === "agent" ? agent.tools : undefined;
  }

  /** Rows that changed since the last call, with the usage of their threads. */
  changed(ledger?: UsageLedger): ThreadRow[] {
    const rows = [...this.#changed].map((id) => this.#rows.get(id)!);
    this.#changed.clear();
    return rows.map((row) => ({ ...row, usage: ledger?.thread(row.id) ?? row.usage }));
  }

  #put(row: ThreadRow): void {
    this.#rows.set(row.id, row);
    this.#changed.add(row.id);
  }

  #agent(name: string, roster: readonly ThreadAgent[]): ThreadRow["agent"] {
    const known = roster.find((agent) => agent.name === name);
    if (known) return known;
    const { model, tools, mcp_servers, skills, execution_identity } = this.#session.agent;
    return {
      type: "inline",
      name,
      description: null,
      system: null,
      model,
      tools,
      mcp_servers,
      skills,
      execution_identity,
    };
  }
}
