import type { ThreadId } from "@tandem/protocol";
import { insert, insertAll, one, assign, sql, type Value, type Work } from "./sql.ts";
import type { SessionChange, SessionRow, ThreadRow } from "./store.ts";
import { toIso, toIsoOrNull, toMs, toMsOrNull } from "./time.ts";

// A session's row: what lists filter and sort by is in columns, its agent in a table apart, all else in `state`.

type Columns = "id" | "status" | "agent" | "environmentId" | "createdAt" | "updatedAt" | "archivedAt";
type State = Omit<SessionRow, Columns>;

interface SessionColumns {
  id: string;
  status: string;
  agent_id: string;
  agent_version: number;
  environment_id: string;
  cents: number;
  created_at: number;
  updated_at: number;
  archived_at: number | null;
  state: string;
}

/** As read, with the agent beside it. */
export type StoredSession = Omit<SessionColumns, "agent_id" | "agent_version" | "cents"> & { agent: string };

export function encodeSession(row: SessionRow): { columns: SessionColumns; agent: string } {
  const { id, status, agent, environmentId, createdAt, updatedAt, archivedAt, ...state } = row;
  return {
    columns: {
      id,
      status,
      agent_id: agent.id,
      agent_version: agent.version,
      environment_id: environmentId,
      cents: centsOf(row.usage),
      created_at: toMs(createdAt),
      updated_at: toMs(updatedAt),
      archived_at: toMsOrNull(archivedAt),
      state: JSON.stringify(state),
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
  createdAt: toIso(row.created_at),
  updatedAt: toIso(row.updated_at),
  archivedAt: toIsoOrNull(row.archived_at),
});

const centsOf = (usage: SessionRow["usage"]): number => Number(usage.list_cost.amount);

/** A change, apart by where it goes. */
export interface ChangeRow {
  columns: Record<string, Value>;
  agent: string | undefined;
  state: Partial<State>;
}

export function encodeChange({ status, agent, archivedAt, ...state }: SessionChange): ChangeRow {
  return {
    columns: {
      ...(status !== undefined && { status }),
      ...(archivedAt !== undefined && { archived_at: toMsOrNull(archivedAt) }),
      ...(agent && { agent_id: agent.id, agent_version: agent.version }),
      ...(state.usage && { cents: centsOf(state.usage) }),
    },
    agent: agent && JSON.stringify(agent),
    state: Object.fromEntries(Object.entries(state).filter(([, value]) => value !== undefined)),
  };
}

/** Under the fence, which makes changes of one session wait for each other. */
export function* changeSession(session: string, change: ChangeRow): Work<void> {
  const columns = { ...change.columns };
  if (Object.keys(change.state).length > 0) {
    const row = yield* one(sql<{ state: string }>`select state from session where id = ${session}`);
    columns["state"] = JSON.stringify({ ...(JSON.parse(row?.state ?? "{}") as object), ...change.state });
  }
  const set = Object.keys(columns).length > 0 ? sql`${assign(columns)}, ` : sql``;
  yield sql`update session set ${set}updated_at = now_ms() where id = ${session}`;
  if (change.agent !== undefined) yield* saveAgent(session, "", change.agent);
}

export function* saveAgent(session: string, thread: string, body: string): Work<void> {
  yield sql`${insert("agent_snapshot", [{ session, thread, body }])}
    on conflict (session, thread) do update set body = excluded.body where agent_snapshot.body <> excluded.body`;
}

interface ThreadColumns {
  session: string;
  id: string;
  parent: string | null;
  status: string;
  usage: string | null;
  created_at: number;
  updated_at: number;
  archived_at: number | null;
}

export type StoredThread = ThreadColumns & { agent: string };

const encodeThread = (row: ThreadRow): Record<string, Value> & ThreadColumns => ({
  session: row.session,
  id: row.id,
  parent: row.parent,
  status: row.status,
  usage: row.usage === null ? null : JSON.stringify(row.usage),
  created_at: toMs(row.createdAt),
  updated_at: toMs(row.updatedAt),
  archived_at: toMsOrNull(row.archivedAt),
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
});

export function* saveThreads(threads: readonly ThreadRow[]): Work<void> {
  for (const thread of threads) {
    const { session, id, ...rest } = encodeThread(thread);
    yield sql`${insert("thread", [{ session, id, ...rest }])} on conflict (session, id) do update set ${assign(rest)}`;
    yield* saveAgent(session, id, JSON.stringify(thread.agent));
  }
}

export function* insertSession(row: SessionRow, threads: readonly ThreadRow[]): Work<void> {
  const { columns, agent } = encodeSession(row);
  yield insert("session", [{ ...columns }]);
  yield* insertAll("agent_snapshot", [
    { session: row.id, thread: "", body: agent },
    ...threads.map((thread) => ({ session: row.id, thread: thread.id, body: JSON.stringify(thread.agent) })),
  ]);
  yield* insertAll("thread", threads.map(encodeThread));
}
