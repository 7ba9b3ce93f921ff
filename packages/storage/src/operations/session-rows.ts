import { assign, insert, insertAll, one, sql, type Value, type Work } from "../sql-statement.ts";

// Columns exist for the fields that lists filter or sort by. The agent is in its own table; the rest is in `state`.

export interface SessionColumns {
  id: string;
  status: string;
  agent_id: string;
  agent_version: number;
  environment_id: string;
  micros: number;
  created_at: number;
  updated_at: number;
  archived_at: number | null;
  place: string | null;
  deployment_id: string | null;
  /** Number of calls that wait for a person or a client. */
  waiting: number;
  state: string;
}

export interface ThreadColumns {
  session: string;
  id: string;
  parent: string | null;
  status: string;
  usage: string | null;
  created_at: number;
  updated_at: number;
  archived_at: number | null;
  workflow_run_id: string | null;
}

/** With the agent as JSON. */
export interface SessionInput {
  columns: SessionColumns;
  agent: string;
}

export interface ThreadInput {
  columns: ThreadColumns;
  agent: string;
}

/** A change, split by destination. */
export interface ChangeRow {
  columns: Record<string, Value>;
  agent: string | undefined;
  state: Record<string, unknown>;
  /** The session's whole state after the change as JSON, if it changes and the writer knows it: saves reading it. */
  whole?: string;
}

/** Whether the stored state has to be read, to merge the change into it. */
export const needsState = ({ state, whole }: ChangeRow): boolean =>
  whole === undefined && Object.keys(state).length > 0;

/** Runs under the fence, which serialises changes of one session. */
export function* changeSession(session: string, change: ChangeRow): Work<void> {
  const columns = { ...change.columns, ...(change.whole !== undefined && { state: change.whole }) };
  if (needsState(change)) {
    const row = yield* one(sql<{ state: string }>`select state from session where id = ${session}`);
    columns["state"] = JSON.stringify({ ...(JSON.parse(row?.state ?? "{}") as object), ...change.state });
  }
  const set = Object.keys(columns).length > 0 ? sql`${assign(columns)}, ` : sql``;
  yield sql`update session set ${set}updated_at = now_ms() where id = ${session}`;
  if (change.agent !== undefined) yield* saveAgent(session, "", change.agent);
}

function* saveAgent(session: string, thread: string, body: string): Work<void> {
  yield sql`${insert("agent_snapshot", [{ session, thread, body }])}
    on conflict (session, thread) do update set body = excluded.body where agent_snapshot.body <> excluded.body`;
}

export function* saveThreads(threads: readonly ThreadInput[]): Work<void> {
  for (const { columns, agent } of threads) {
    const { session, id, ...rest } = columns;
    yield sql`${insert("thread", [{ session, id, ...rest }])} on conflict (session, id) do update set ${assign(rest)}`;
    yield* saveAgent(session, id, agent);
  }
}

export function* insertSession({ columns, agent }: SessionInput, threads: readonly ThreadInput[]): Work<void> {
  const session = columns.id;
  yield insert("session", [{ ...columns }]);
  yield* insertAll("agent_snapshot", [
    { session, thread: "", body: agent },
    ...threads.map((thread) => ({ session, thread: thread.columns.id, body: thread.agent })),
  ]);
  yield* insertAll(
    "thread",
    threads.map((thread) => ({ ...thread.columns })),
  );
}
