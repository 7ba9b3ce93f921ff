import { setTimeout as delay } from "node:timers/promises";
import { TandemError, RequestError } from "@tandem/protocol";
import { PostgresServer, sql, type Execute, type Sql } from "@tandem/storage/postgres";
import { CHANNEL, CREATE_TABLES, LOCK_TAKING, NEWEST_COLUMN, SCHEMA } from "./queue-statements.ts";

const CONNECTIONS = 4;
/** How long calls wait for an unavailable Postgres: about the duration of a restart. */
const UNAVAILABLE_MS = 30_000;
const DENIED = "42501";

/** The queue's connections and tables. Without notifications, runs are found by polling, a second later. */
export class QueueDatabase implements AsyncDisposable {
  readonly #server: PostgresServer;
  readonly #closing = new AbortController();
  #listener: { close(): void } | undefined;

  private constructor(server: PostgresServer) {
    this.#server = server;
  }

  static async open(url: string, directUrl: string | undefined): Promise<QueueDatabase> {
    const database = new QueueDatabase(new PostgresServer(url, { directUrl, connections: CONNECTIONS }));
    try {
      await retryWhileUnavailable(() => database.#createTables(), UNAVAILABLE_MS);
      return database;
    } catch (error) {
      await database[Symbol.asyncDispose]();
      throw isDenied(error) ? notAllowed(error) : error;
    }
  }

  listen(onPayload: (payload: string) => void, onConnect: () => void): void {
    this.#listener = this.#server.listen(CHANNEL, onPayload, onConnect);
  }

  /** Tries once. */
  async query<Row>(statement: Sql<Row>): Promise<Row[]> {
    return (await this.#server.use(SCHEMA, (execute) => execute(statement))) as Row[];
  }

  /** Waits while Postgres is unavailable, but not once the queue closes. */
  patiently<Row>(statement: Sql<Row>): Promise<Row[]> {
    return retryWhileUnavailable(() => this.query(statement), UNAVAILABLE_MS, this.#closing.signal);
  }

  /** Takers exclude each other, for as long as the statement runs: a slow connection delays no other taker. */
  async take<Row>(statement: Sql<Row>): Promise<Row[]> {
    return (await this.#server.transactionAtOnce(SCHEMA, [LOCK_TAKING, statement])) as Row[];
  }

  /** Calls try once from now on: closing must not wait for an unavailable Postgres. */
  stopWaiting(): void {
    this.#closing.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stopWaiting();
    this.#listener?.close();
    await this.#server[Symbol.asyncDispose]();
  }

  /** Looks first: creating an existing schema still needs the right to create one, and an owner may have created it. */
  async #createTables(): Promise<void> {
    const table = `${SCHEMA}.run`;
    const found = await this.query(
      sql`select from pg_attribute where attrelid = to_regclass(${table}) and attname = ${NEWEST_COLUMN}`,
    );
    if (found.length > 0) return;
    await this.#server.transaction(SCHEMA, async (execute) => {
      // `if not exists` fails if several processes create a table at once.
      await execute(sql`select pg_advisory_xact_lock(hashtext(${table}))`);
      if (!(await schemaExists(execute))) await execute(statementOf(`create schema ${SCHEMA}`));
      for (const text of CREATE_TABLES) await execute(statementOf(text));
    });
  }
}

const schemaExists = async (execute: Execute): Promise<boolean> =>
  (await execute(sql`select 1 from pg_namespace where nspname = ${SCHEMA}`)).length > 0;

const statementOf = (text: string): Sql => ({ parts: [text], values: [] });

const isDenied = (error: unknown): boolean =>
  error instanceof TandemError && error.cause instanceof Error && "code" in error.cause && error.cause.code === DENIED;

const notAllowed = (cause: unknown): TandemError =>
  new TandemError("queue_not_allowed", `The role of storage.url may not set up the queue's schema "${SCHEMA}".`, {
    fix: `As an owner of the database, once: CREATE SCHEMA ${SCHEMA} AUTHORIZATION "the role"; or GRANT CREATE ON DATABASE to it.`,
    cause,
  });

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

/** The server or connection failed, not the statement: a retry may succeed. */
const isPassing = (error: unknown): error is RequestError =>
  error instanceof RequestError && error.code === "unavailable";

/** Retries while Postgres is unavailable, until `deadlineMs` or the signal. */
async function retryWhileUnavailable<T>(
  attempt: () => Promise<T>,
  deadlineMs: number,
  signal?: AbortSignal,
): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (signal?.aborted || performance.now() + pause > deadline) {
        throw new TandemError("queue_unavailable", `The queue's Postgres does not answer. ${error.message}`, {
          fix: "See that Postgres runs and that storage.url names it; then try again.",
          cause: error,
        });
      }
      // Closing the queue ends the pause.
      await delay(pause, undefined, { signal, ref: true }).catch(() => {});
    }
  }
}
