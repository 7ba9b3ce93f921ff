import { types, type ClientConfig } from "pg";

const KEEP_ALIVE_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** On the server. All statements are short; a long one would hold locks that others wait for. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** On the client, for a server that has vanished silently. */
const QUERY_TIMEOUT_MS = 35_000;
/**
 * A process suspended inside a transaction keeps its row locks, and so blocks a takeover of its session. The server
 * aborts the transaction before that is noticed.
 */
const IDLE_IN_TRANSACTION_MS = 5_000;
/** Longer than the idle timeout, so that a waiter gets the row after a suspended holder was aborted. */
const LOCK_TIMEOUT_MS = 10_000;
const { INT8 } = types.builtins;

const TIMEOUTS = [
  `statement_timeout = ${STATEMENT_TIMEOUT_MS}`,
  `lock_timeout = ${LOCK_TIMEOUT_MS}`,
  `idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`,
];
/** On the server's end: the connection of a vanished machine is dropped after about 30 seconds. */
const KEEP_ALIVE = [
  "tcp_keepalives_idle = 10",
  "tcp_keepalives_interval = 5",
  "tcp_keepalives_count = 4",
  "tcp_user_timeout = 30000",
];
const PLANNER = {
  // Every page is read in index order. Without statistics, the planner would sort the whole log instead.
  rows: "enable_sort = off",
  // JIT compilation takes longer than executing such a statement.
  search: "jit = off",
};

/** A connection's purpose decides how its statements are planned. */
export type Purpose = keyof typeof PLANNER;

/** No settings of the server: PgBouncer refuses unknown startup parameters, so they are sent as statements. */
export const connectionConfig = (url: string): ClientConfig => ({
  connectionString: url,
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  query_timeout: QUERY_TIMEOUT_MS,
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  application_name: "tandem",
  // Counters and times stay below 2^53.
  types: { getTypeParser: (oid, format) => (oid === INT8 ? Number : types.getTypeParser(oid, format)) as never },
});

/** Prepares a connection for all later statements. */
export const forSession = (schema: string, purpose: Purpose): string =>
  [`search_path to "${schema}"`, ...TIMEOUTS, ...KEEP_ALIVE, PLANNER[purpose]].map((each) => `set ${each}`).join("; ");

/** Begins a transaction that leaves no setting behind, because the next one on this connection may be another client's. */
export const forTransaction = (schema: string, purpose: Purpose): string =>
  ["begin", ...[`search_path to "${schema}"`, ...TIMEOUTS, PLANNER[purpose]].map((each) => `set local ${each}`)].join(
    "; ",
  );
