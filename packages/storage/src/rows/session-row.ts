import type { ThreadId } from "@tandem/protocol";
import type { ChangeRow, SessionInput, ThreadInput } from "../operations/session-rows.ts";
import type { StoredSession, StoredThread } from "../operations/sessions.ts";
import type { SessionChange, SessionRow, ThreadRow } from "../store.ts";
import { toIso, toIsoOrNull, toMs, toMsOrNull } from "./time.ts";

/** Fields without a column. */
type State = Omit<
  SessionRow,
  "id" | "status" | "agent" | "environmentId" | "createdAt" | "updatedAt" | "archivedAt" | "place" | "deploymentId"
>;

function splitRow(row: SessionRow) {
  const { id, status, agent, environmentId, createdAt, updatedAt, archivedAt, place, deploymentId, ...state } = row;
  const columns = { id, status, agent, environmentId, createdAt, updatedAt, archivedAt, place, deploymentId };
  return { ...columns, state: JSON.stringify(state satisfies State) };
}

export function encodeSession(row: SessionRow): SessionInput {
  const { id, status, agent, environmentId, createdAt, updatedAt, archivedAt, place, deploymentId, state } =
    splitRow(row);
  return {
    columns: {
      id,
      status,
      agent_id: agent.id,
      agent_version: agent.version,
      environment_id: environmentId,
      micros: microsOf(row),
      created_at: toMs(createdAt),
      updated_at: toMs(updatedAt),
      archived_at: toMsOrNull(archivedAt),
      place,
      deployment_id: deploymentId ?? null,
      waiting: row.waitingFor.length,
      state,
    },
    agent: JSON.stringify(agent),
  };
}

export const decodeSession = (row: StoredSession): SessionRow => ({
  ...(JSON.parse(row.state) as State),
  id: row.id as SessionRow["id"],
  status: row.status as SessionRow["status"],
  agent: JSON.parse(row.agent) as SessionRow["agent"],
  environmentId: row.environment_id,
  place: row.place,
  ...(row.deployment_id !== null && { deploymentId: row.deployment_id }),
  createdAt: toIso(row.created_at),
  updatedAt: toIso(row.updated_at),
  archivedAt: toIsoOrNull(row.archived_at),
});

const microsOf = ({ microUsd, usage }: Pick<SessionRow, "microUsd" | "usage">): number =>
  microUsd ?? Number(usage.list_cost.amount) * 10_000;

/** `after`: the row after the change, if the caller knows it. */
export function encodeChange(
  { status, agent, archivedAt, place, ...state }: SessionChange,
  after: SessionRow | undefined,
): ChangeRow {
  const changed = Object.entries(state).filter(([, value]) => value !== undefined);
  return {
    columns: {
      ...(status !== undefined && { status }),
      ...(archivedAt !== undefined && { archived_at: toMsOrNull(archivedAt) }),
      ...(place !== undefined && { place }),
      ...(state.waitingFor && { waiting: state.waitingFor.length }),
      ...(agent && { agent_id: agent.id, agent_version: agent.version }),
      ...(state.usage && { micros: microsOf({ ...state, usage: state.usage }) }),
    },
    agent: agent && JSON.stringify(agent),
    state: Object.fromEntries(changed),
    ...(after && changed.length > 0 && { whole: splitRow(after).state }),
  };
}

export const encodeThread = (row: ThreadRow): ThreadInput => ({
  columns: {
    session: row.session,
    id: row.id,
    parent: row.parent,
    status: row.status,
    usage: row.usage === null ? null : JSON.stringify(row.usage),
    created_at: toMs(row.createdAt),
    updated_at: toMs(row.updatedAt),
    archived_at: toMsOrNull(row.archivedAt),
    workflow_run_id: row.workflowRunId ?? null,
  },
  agent: JSON.stringify(row.agent),
});

export const decodeThread = (row: StoredThread): ThreadRow => ({
  id: row.id as ThreadId,
  session: row.session as ThreadRow["session"],
  parent: row.parent as ThreadId | null,
  agent: JSON.parse(row.agent) as ThreadRow["agent"],
  status: row.status as ThreadRow["status"],
  usage: row.usage === null ? null : (JSON.parse(row.usage) as ThreadRow["usage"]),
  createdAt: toIso(row.created_at),
  updatedAt: toIso(row.updated_at),
  archivedAt: toIsoOrNull(row.archived_at),
  ...(row.workflow_run_id !== null && { workflowRunId: row.workflow_run_id }),
});
