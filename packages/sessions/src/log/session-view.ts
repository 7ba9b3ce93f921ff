import type { Session, Thread, FeedSession, Clock } from "@tandem/protocol";
import type { SessionRow, ThreadRow } from "@tandem/storage";
import { servedAgent } from "../mcp/server-passwords.ts";
import { outcomeView } from "./outcome-state.ts";
import { unansweredCalls } from "./unanswered-calls.ts";

export type { FeedSession } from "@tandem/protocol";

/** A session as clients see it. */
export function sessionView(row: SessionRow, clock: Clock): Session {
  return {
    type: "session",
    id: row.id,
    status: row.status,
    agent: servedAgent(row.agent),
    environment_id: row.environmentId,
    title: row.title,
    metadata: row.metadata,
    resources: row.resources,
    vault_ids: row.vaultIds ?? [],
    budget: row.budget,
    usage: row.usage,
    stats: { active_seconds: seconds(row.activeMs), duration_seconds: age(row, clock) },
    outcome_evaluations: (row.outcomes ?? []).map(outcomeView),
    deployment_id: row.deploymentId ?? null,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    archived_at: row.archivedAt,
  };
}

/** A thread as clients see it; the primary one takes status and usage from its session. */
export function threadView(row: ThreadRow, session: SessionRow, clock: Clock): Thread {
  const primary = row.id === session.primaryThread;
  return {
    type: "session_thread",
    id: row.id,
    session_id: row.session,
    parent_thread_id: row.parent,
    agent: servedAgent(row.agent),
    status: primary ? session.status : isAsking(row, session) ? "idle" : row.status,
    stats: primary ? { active_seconds: seconds(session.activeMs), duration_seconds: age(session, clock) } : null,
    usage: primary ? session.usage : row.usage,
    workflow_run_id: row.workflowRunId ?? null,
    created_at: row.createdAt,
    updated_at: primary ? session.updatedAt : row.updatedAt,
    archived_at: row.archivedAt,
  };
}

/** Whether a subagent waits for an answer: its thread is idle then. */
const isAsking = ({ id, status }: ThreadRow, session: SessionRow): boolean =>
  status === "running" && unansweredCalls(session).some(({ thread }) => thread === id);

/** A summary of a session, for lists. */
export function feedView(row: SessionRow): FeedSession {
  const asked = unansweredCalls(row).flatMap(({ event_id, type, name }) =>
    type === "tool_result" ? [] : [{ event_id, type, name }],
  );
  // A call that a worker runs needs no person.
  const isAtWorker = asked.length === 0 && row.waitingFor.some(({ type }) => type === "tool_result");
  return {
    id: row.id,
    title: row.title,
    status: isAtWorker ? "running" : row.status,
    agent: { id: row.agent.id, name: row.agent.name },
    environment_id: row.environmentId,
    folder: row.folder,
    waiting_for: asked,
    list_cost: row.usage.list_cost,
    evaluation: row.outcomes?.at(-1)?.result ?? null,
    cut_short: row.cutShort ?? null,
    outcome: row.outcome ?? null,
    parked: row.parked ? { resets_at: row.parked.resetsAt, kind: row.parked.kind } : null,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    archived_at: row.archivedAt,
  };
}

const seconds = (ms: number): number => Math.round(ms / 100) / 10;

const age = ({ createdAt, archivedAt }: SessionRow, clock: Clock): number =>
  seconds((archivedAt ? Date.parse(archivedAt) : clock.now()) - Date.parse(createdAt));
