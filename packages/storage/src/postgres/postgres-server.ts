import { RequestError, TandemError } from "@tandem/protocol";
import { escapeLiteral, Pool, type ClientConfig, type PoolClient, type PoolConfig, type QueryResult } from "pg";
import type { ChangeNotice } from "../database.ts";
import { BatchQueue, type Outcome } from "../threads/batch-queue.ts";
import { POSTGRES_CHANNEL, POSTGRES_SCHEMA, schemaOf } from "../operations/schema/migrations.ts";
import { noSuchTenant } from "../operations/tenants.ts";
import { DISK_FULL } from "../refusal.ts";
import { performAsync, type Sql, type Value, type Work } from "../sql-statement.ts";
import { checkConnections } from "./check-connections.ts";
import { connectionConfig, forSession, forTransaction, type Purpose } from "./connection-settings.ts";
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
export interface PostgresCall {
  schema: string;
  session: string;
  work(): Work<unknown>;
  single(): Work<unknown> | undefined;
}

interface PostgresServerOptions {
  directUrl?: string | undefined;
  /** At most this many for statements; default: `?connections=` in the URL. */
  connections?: number;
}

interface RunOptions {
  schema: string;
  purpose: Purpose;
  /** After an error, its transaction may be open. */
  isTransaction: boolean;
}

/** A process's connections to one database, shared by all tenants. Each tenant has its own schema. */
export class PostgresServer implements AsyncDisposable {
  readonly config: ClientConfig;
  /** For connections that listen, and for migrations, which take long. */
  readonly directConfig: ClientConfig;
  /** Whether a connection's settings and prepared statements are still there in its next transaction. */
  readonly #keepsSettings: boolean;
  readonly #pool: Pool;
  #searchPool: Pool | undefined;
  readonly #queues = Array.from(
    { length: WRITE_QUEUES },
    () => new BatchQueue<PostgresCall>((calls) => this.#commitAll(calls)),
  );
  readonly #listeners = new Map<string, (notice: ChangeNotice) => void>();
  #notifications: NotificationListener | undefined;
  #fullDisk: TandemError | undefined;

  /** With `directUrl`, `url` may be a pooler in transaction mode: nothing then depends on the state of a connection. */
  constructor(url: string, { directUrl, connections = connectionsOf(url) }: PostgresServerOptions = {}) {
    this.config = connectionConfig(url);
    this.directConfig = connectionConfig(directUrl ?? url);
    this.#keepsSettings = directUrl === undefined;
    this.#pool = openPool({ ...this.config, max: connections });
  }

  /** Refuses a pooler in transaction mode where connections must keep their settings. */
  async check(): Promise<void> {
    await checkConnections(this.config, this.#keepsSettings ? undefined : this.directConfig).catch((error: unknown) => {
      throw translate(error);
    });
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
  use<T>(schema: string, body: (execute: Execute) => Promise<T>, purpose: Purpose = "rows"): Promise<T> {
    if (!this.#keepsSettings) return this.#transact(schema, purpose, body);
    return this.#run({ schema, purpose, isTransaction: false }, (client) => body(on(client)));
  }

  transaction<T>(schema: string, body: (execute: Execute) => Promise<T>): Promise<T> {
    return this.#transact(schema, "rows", body);
  }

  /**
   * A transaction in one message: the server holds its locks for no round trip, however slow the connection. Such a message
   * has no parameters, so values are quoted. Returns the rows of the last statement.
   */
  transactionAtOnce(schema: string, statements: readonly Sql[]): Promise<unknown[]> {
    const text = [this.#begin(schema, "rows"), ...statements.map(quoted), "commit"].join("; ");
    return this.#run({ schema, purpose: "rows", isTransaction: true }, async (client) => {
      // A text of several statements has several results.
      const results = (await client.query(text)) as unknown as QueryResult<Record<string, unknown>>[];
      return results.at(-2)?.rows ?? [];
    });
  }

  #transact<T>(schema: string, purpose: Purpose, body: (execute: Execute) => Promise<T>): Promise<T> {
    return this.#run({ schema, purpose, isTransaction: true }, async (client) => {
      await client.query(this.#begin(schema, purpose));
      const value = await body(this.#keepsSettings ? on(client) : unnamed(on(client)));
      await client.query("commit");
      return value;
    });
  }

  #begin(schema: string, purpose: Purpose): string {
    return this.#keepsSettings ? "begin" : forTransaction(schema, purpose);
  }

  async #run<T>({ schema, purpose, isTransaction }: RunOptions, body: (client: PoolClient) => Promise<T>): Promise<T> {
    const pool = purpose === "search" ? this.#poolForSearches() : this.#pool;
    const client = await pool.connect().catch((error: unknown) => {
      throw translate(error);
    });
    let isUsable = false;
    let isPrepared = false;
    try {
      if (this.#keepsSettings) await switchTo(client, schema, purpose);
      isPrepared = true;
      const value = await body(client);
      isUsable = true;
      return value;
    } catch (error) {
      isUsable = !isConnectionLost(error);
      // A connection that cannot roll back must be discarded.
      if (isUsable && isPrepared && isTransaction) await client.query("rollback").catch(() => void (isUsable = false));
      // The tenant was deleted by another process. The shared tables exist as long as the database does.
      const isGone = isTableMissing(error) && schema.startsWith(schemaOf(""));
      throw translate(isGone ? noSuchTenant(schema.slice(schemaOf("").length)) : error);
    } finally {
      client.release(!isUsable);
    }
  }

  /**
   * Performs the single-statement variant. Undefined if there is none, or if it met a conflict: it sees one snapshot, and rows
   * committed while it waited for a lock are not in it. A transaction reads them, and tells a real conflict.
   */
  async single<T>(schema: string, work: () => Work<T> | undefined): Promise<{ value: T } | undefined> {
    const statement = work();
    if (!statement) return undefined;
    try {
      return { value: await this.use(schema, (execute) => performAsync(statement, execute)) };
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
      this.#notifications = this.listen(
        POSTGRES_CHANNEL,
        (payload) => this.#heard(payload),
        () => {
          for (const each of this.#listeners.values()) each({ type: "resync" });
        },
      );
    } else if (listener && this.#notifications.isListening) {
      queueMicrotask(() => listener({ type: "resync" }));
    }
  }

  /** On a connection of its own. `onConnect` is called at first and after each reconnect. */
  listen(channel: string, onPayload: (payload: string) => void, onConnect: () => void): NotificationListener {
    return new NotificationListener({ config: this.directConfig, channel, onPayload, onConnect });
  }

  #heard(payload: string): void {
    const [type, session, number, schema = POSTGRES_SCHEMA] = payload.split(" ");
    const listener = this.#listeners.get(schema);
    if (session === undefined || !listener) return;
    if (type === "log") listener({ type, session, seq: Number(number) });
    if (type === "inbox") listener({ type, session, position: Number(number) });
    if (type === "gone" || type === "ended") listener({ type, session });
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
    return (this.#searchPool ??= openPool({ ...this.config, max: SEARCH_CONNECTIONS }));
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
      return await this.transaction(schema, async (execute) => {
        const outcomes = new Map<PostgresCall, Outcome>();
        for (const call of calls.toSorted(bySession)) {
          const work = (calls.length > 1 && call.single()) || call.work();
          outcomes.set(call, { ok: true, value: await performAsync(work, execute) });
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

/** Search path of each connection; none for a new one, while it changes, and after a failed change. */
const schemas = new WeakMap<PoolClient, string>();

/**
 * Outside of a transaction, because a rollback would revert it. Postgres re-plans prepared statements after the change.
 */
async function switchTo(client: PoolClient, schema: string, purpose: Purpose): Promise<void> {
  const now = schemas.get(client);
  if (now === schema) return;
  schemas.delete(client);
  await client.query(now === undefined ? forSession(schema, purpose) : `set search_path to "${schema}"`);
  schemas.set(client, schema);
}

function openPool(config: PoolConfig): Pool {
  const pool = new Pool({ ...config, allowExitOnIdle: true });
  // The pool replaces idle connections that die. Without listeners, their error event would crash the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** Executes a statement and returns its rows. */
export type Execute = (statement: Sql) => Promise<unknown[]>;

/** Executes statements on this connection. */
export const on =
  (client: Pick<PoolClient, "query">): Execute =>
  async ({ parts, values, name, timeoutMs }: Sql): Promise<unknown[]> => {
    const text = parts.reduce((all, part, index) => `${all}$${index}${part}`);
    const options = { ...(name && { name }), ...(timeoutMs && { query_timeout: timeoutMs }) };
    return (await client.query({ text, values: [...values], ...options })).rows as unknown[];
  };

/** The statement with its values as literals. */
const quoted = ({ parts, values }: Sql): string =>
  parts.reduce((all, part, index) => `${all}${literal(values[index - 1]!)}${part}`);

/** Numbers are quoted, too, so that Postgres infers their types as it does for parameters. */
function literal(value: Value): string {
  if (value instanceof Uint8Array) throw new TypeError("Bytes cannot be quoted here.");
  return value === null ? "null" : escapeLiteral(String(value));
}

/** A prepared statement would stay behind on a connection that another client gets next. */
const unnamed =
  (execute: Execute): Execute =>
  ({ parts, values, timeoutMs }) =>
    execute({ parts, values, ...(timeoutMs && { timeoutMs }) });

/** Stable for the lifetime of the process, so that writes of one session stay ordered. */
const queueOf = (session: string): number => (session.charCodeAt(session.length - 1) || 0) % WRITE_QUEUES;

const bySession = (a: PostgresCall, b: PostgresCall): number =>
  a.session < b.session ? -1 : a.session > b.session ? 1 : 0;

const isUnavailable = (error: unknown): boolean => error instanceof RequestError && error.code === "unavailable";
