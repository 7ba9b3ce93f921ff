import { RequestError, TandemError } from "@tandem/protocol";
import { Pool, types, type ClientConfig, type PoolClient, type PoolConfig } from "pg";
import type { ChangeNotice } from "../database.ts";
import { BatchQueue, type Outcome } from "../batch-queue.ts";
import { POSTGRES_SCHEMA, schemaOf } from "../operations/schema/migrations.ts";
import { noSuchTenant } from "../operations/tenants.ts";
import { DISK_FULL } from "../refusal.ts";
import { performAsync, type Sql, type Work } from "../sql-statement.ts";
import { NotificationListener } from "./notification-listener.ts";
import { isConnectionLost, isTableMissing, translate } from "./translate-postgres-error.ts";

/** Default of `?connections=`. */
const CONNECTIONS = 10;
/** A separate pool, so that searches never exhaust the connections of other work. */
const SEARCH_CONNECTIONS = 3;
/**
 * Notifying commits are serialised by Postgres, so larger batches help more than more lanes. The remaining connections
 * serve reads.
 */
const WRITE_QUEUES = 4;
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
/** On the server's end: the connection of a vanished machine is dropped after about 30 seconds. */
const SERVER_KEEP_ALIVE = ["tcp_keepalives_idle=10", "tcp_keepalives_interval=5", "tcp_keepalives_count=4"];
const SERVER_SETTINGS = [...SERVER_KEEP_ALIVE, "tcp_user_timeout=30000"];
const { INT8 } = types.builtins;

const options = (...more: readonly string[]): string =>
  [`search_path=${POSTGRES_SCHEMA}`, ...SERVER_SETTINGS, ...more].map((setting) => `-c ${setting}`).join(" ");

export interface PostgresCall {
  schema: string;
  session: string;
  work(): Work<unknown>;
  single(): Work<unknown> | undefined;
}

/** A process's connections to one database, shared by all tenants. Each tenant has its own schema. */
export class PostgresServer implements AsyncDisposable {
  readonly config: ClientConfig;
  readonly #pool: Pool;
  #searchPool: Pool | undefined;
  readonly #queues = Array.from(
    { length: WRITE_QUEUES },
    () => new BatchQueue<PostgresCall>((calls) => this.#commitAll(calls)),
  );
  readonly #listeners = new Map<string, (notice: ChangeNotice) => void>();
  #notifications: NotificationListener | undefined;
  #fullDisk: TandemError | undefined;

  constructor(url: string) {
    this.config = {
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      application_name: "tandem",
      // Every page is read in index order. Without statistics, the planner would sort the whole log instead.
      options: options("enable_sort=off"),
      // Counters and times stay below 2^53.
      types: { getTypeParser: (oid, format) => (oid === INT8 ? Number : types.getTypeParser(oid, format)) as never },
    };
    this.#pool = openPool({ ...this.config, max: connectionsOf(url) });
  }

  /** The error of the last write, if the server's disk was full. Workers write every few seconds. */
  get fullDisk(): TandemError | undefined {
    return this.#fullDisk;
  }

  /** Reports the outcome of a write. */
  noteWrite(error?: unknown): void {
    if (error === undefined) this.#fullDisk = undefined;
    else if (error instanceof RequestError && error.detail === DISK_FULL) this.#fullDisk = error;
  }

  /** Runs on the tables of one schema. Statements are unqualified; the search path selects the schema. */
  async use<T>(schema: string, body: (client: PoolClient) => Promise<T>, purpose?: "search"): Promise<T> {
    const pool = purpose ? this.#poolForSearches() : this.#pool;
    const client = await pool.connect().catch((error: unknown) => {
      throw translate(error);
    });
    let isUsable = false;
    try {
      await switchTo(client, schema);
      const value = await body(client);
      isUsable = true;
      return value;
    } catch (error) {
      isUsable = !isConnectionLost(error) && !failedRollbacks.has(client);
      // The tenant was deleted by another process. The shared tables exist as long as the database does.
      const isGone = isTableMissing(error) && schema !== POSTGRES_SCHEMA;
      throw translate(isGone ? noSuchTenant(schema.slice(schemaOf("").length)) : error);
    } finally {
      client.release(!isUsable);
    }
  }

  transaction<T>(schema: string, body: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.use(schema, async (client) => {
      try {
        await client.query("begin");
        const value = await body(client);
        await client.query("commit");
        return value;
      } catch (error) {
        // A connection that cannot roll back must be discarded.
        if (!isConnectionLost(error)) await client.query("rollback").catch(() => failedRollbacks.add(client));
        throw error;
      }
    });
  }

  /**
   * Performs the single-statement variant. Undefined if there is none, or if it met a conflict: it sees one snapshot, and rows
   * committed while it waited for a lock are not in it. A transaction reads them, and tells a real conflict.
   */
  async single<T>(schema: string, work: () => Work<T> | undefined): Promise<{ value: T } | undefined> {
    const statement = work();
    if (!statement) return undefined;
    try {
      return { value: await this.use(schema, (client) => performAsync(statement, on(client))) };
    } catch (error) {
      if (error instanceof RequestError && error.code === "conflict") return undefined;
      throw error;
    }
  }

  /** Ordered per session; several sessions share a commit. */
  write(call: PostgresCall): Promise<unknown> {
    return this.#queues[queueOf(call.session)]!.add(call);
  }

  /** One connection listens for all schemas. Starts with a `resync`. */
  watch(schema: string, listener: ((notice: ChangeNotice) => void) | undefined): void {
    if (listener) this.#listeners.set(schema, listener);
    else this.#listeners.delete(schema);
    if (this.#listeners.size === 0) {
      this.#notifications?.close();
      this.#notifications = undefined;
    } else if (!this.#notifications) {
      this.#notifications = new NotificationListener(this.config, (notice, of) => {
        if (of !== undefined) return this.#listeners.get(of)?.(notice);
        for (const each of this.#listeners.values()) each(notice);
      });
    } else if (listener && this.#notifications.isListening) {
      queueMicrotask(() => listener({ type: "resync" }));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#notifications?.close();
    await this.drained();
    await Promise.all([this.#pool.end(), this.#searchPool?.end()]);
  }

  async drained(): Promise<void> {
    await Promise.all(this.#queues.map((lane) => lane.drained()));
  }

  #poolForSearches(): Pool {
    // JIT compilation takes longer than executing such a statement.
    return (this.#searchPool ??= openPool({ ...this.config, options: options("jit=off"), max: SEARCH_CONNECTIONS }));
  }

  /** One transaction per schema. */
  async #commitAll(calls: readonly PostgresCall[]): Promise<Outcome[]> {
    const outcomes = new Map<PostgresCall, Outcome>();
    for (const [schema, theirs] of Map.groupBy(calls, (call) => call.schema)) {
      const results = await this.#commit(schema, theirs).catch((error: unknown) =>
        theirs.map((): Outcome => ({ ok: false, error })),
      );
      for (const [index, call] of theirs.entries()) outcomes.set(call, results[index]!);
    }
    return calls.map((call) => outcomes.get(call)!);
  }

  /**
   * All calls in one transaction. If one fails, each call is repeated in its own: that is rare, and savepoints would
   * cost every time. Sessions are written in one global order, to avoid deadlocks between processes.
   */
  async #commit(schema: string, calls: readonly PostgresCall[]): Promise<Outcome[]> {
    try {
      const alone = calls.length === 1 ? await this.single(schema, () => calls[0]!.single()) : undefined;
      if (alone) return [{ ok: true, value: alone.value }];
      return await this.transaction(schema, async (client) => {
        const outcomes = new Map<PostgresCall, Outcome>();
        for (const call of calls.toSorted(bySession)) {
          const work = (calls.length > 1 && call.single()) || call.work();
          outcomes.set(call, { ok: true, value: await performAsync(work, on(client)) });
        }
        return calls.map((call) => outcomes.get(call)!);
      });
    } catch (error) {
      // After a lost connection it is unknown whether the commit succeeded, so do not repeat it.
      if (calls.length === 1 || isUnavailable(error)) throw translate(error);
      const outcomes: Outcome[] = [];
      for (const call of calls) {
        const [outcome] = await this.#commit(schema, [call]).catch((error: unknown) => [{ ok: false, error } as const]);
        outcomes.push(outcome!);
      }
      return outcomes;
    }
  }
}

/** `?connections=N` in the URL: a fleet has many processes, and the server limits connections. */
function connectionsOf(url: string): number {
  const wanted = Number(URL.parse(url)?.searchParams.get("connections") ?? CONNECTIONS);
  if (Number.isInteger(wanted) && wanted >= 1) return wanted;
  throw new TandemError("bad_location", "The number of connections in the database's URL is not one.", {
    fix: `Write connections=${CONNECTIONS}, or leave it out.`,
  });
}

/** Connections whose rollback failed. */
const failedRollbacks = new WeakSet<PoolClient>();

/** Search path of each connection; undefined while it changes, and after a failed change. */
const schemas = new WeakMap<PoolClient, string | undefined>();

/**
 * Outside of a transaction, because a rollback would revert it. Postgres re-plans prepared statements after the change.
 */
async function switchTo(client: PoolClient, schema: string): Promise<void> {
  const now = schemas.has(client) ? schemas.get(client) : POSTGRES_SCHEMA;
  if (now === schema) return;
  schemas.set(client, undefined);
  await client.query(`set search_path to "${schema}"`);
  schemas.set(client, schema);
}

function openPool(config: PoolConfig): Pool {
  const pool = new Pool({ ...config, allowExitOnIdle: true });
  // The pool replaces idle connections that die. Without listeners, their error event would crash the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** Executes statements on this connection. */
export const on =
  (client: Pick<PoolClient, "query">) =>
  async ({ parts, values, name }: Sql): Promise<unknown[]> => {
    const text = parts.reduce((all, part, index) => `${all}$${index}${part}`);
    return (await client.query({ text, values: [...values], ...(name && { name }) })).rows as unknown[];
  };

/** Stable for the lifetime of the process, so that writes of one session stay ordered. */
const queueOf = (session: string): number => (session.charCodeAt(session.length - 1) || 0) % WRITE_QUEUES;

const bySession = (a: PostgresCall, b: PostgresCall): number =>
  a.session < b.session ? -1 : a.session > b.session ? 1 : 0;

const isUnavailable = (error: unknown): boolean => error instanceof RequestError && error.code === "unavailable";
