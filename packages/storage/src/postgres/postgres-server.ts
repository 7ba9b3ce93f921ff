import { RequestError, TandemError } from "@tandem/protocol";
import { Pool, types, type ClientConfig, type PoolClient, type PoolConfig } from "pg";
import type { Bell } from "../database.ts";
import { Lane, type Outcome } from "../lane.ts";
import { POSTGRES_SCHEMA, schemaOf } from "../operations/migrations.ts";
import { noSuchTenant } from "../operations/tenants.ts";
import { performAsync, type Sql, type Work } from "../sql.ts";
import { Doorbell } from "./doorbell.ts";
import { isConnectionLost, isTableMissing, translate } from "./postgres-error.ts";

/** Unless the URL says otherwise. */
const CONNECTIONS = 10;
/** Of their own, so that searches never keep others from the database. */
const SEARCH_CONNECTIONS = 3;
/**
 * Commits that notify wait for each other, so that more at once bring little; larger ones do. The rest of the connections is
 * for those who read.
 */
const LANES = 4;
const KEEP_ALIVE_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** On the server. All our statements are short; one that is not would hold locks that others wait for. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** On our side, for a server that has vanished without a word. */
const QUERY_TIMEOUT_MS = 35_000;
/**
 * A process that is stopped within a transaction keeps the rows that it has written from all others, and so a session from
 * whoever takes it over. It is cut off before a takeover could notice.
 */
const IDLE_IN_TRANSACTION_MS = 5_000;
/** Longer than that, so that who waits for somebody who was stopped gets the row; then it says that it cannot be had. */
const LOCK_TIMEOUT_MS = 10_000;
/** Of the server's end: the connection of a machine that has vanished is given up after about half a minute. */
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

/** The connections of a process to a database, for the tables of all its tenants: each tenant's are a schema of their own. */
export class PostgresServer implements AsyncDisposable {
  readonly config: ClientConfig;
  readonly #pool: Pool;
  #searchPool: Pool | undefined;
  readonly #lanes = Array.from({ length: LANES }, () => new Lane<PostgresCall>((calls) => this.#commitAll(calls)));
  readonly #listeners = new Map<string, (bell: Bell) => void>();
  #doorbell: Doorbell | undefined;

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
      // Every page that we read has an index in its order. Before it has statistics, Postgres would rather sort all of a log.
      options: options("enable_sort=off"),
      // Counters and times are well below 2^53.
      types: {
        getTypeParser: (oid, format) => (oid === INT8 ? Number : types.getTypeParser(oid, format)) as never,
      },
    };
    this.#pool = openPool({ ...this.config, max: connectionsOf(url) });
  }

  /** On the tables of one schema, and on no others: statements name none. */
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
      isUsable = !isConnectionLost(error) && !spoilt.has(client);
      // Somebody has deleted the tenant; the tables of all are there as long as the database is.
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
        // A connection that cannot even do that is of no use, whatever the error was.
        if (!isConnectionLost(error)) await client.query("rollback").catch(() => spoilt.add(client));
        throw error;
      }
    });
  }

  /** In the order of the calls for each session; several share a commit. */
  write(call: PostgresCall): Promise<unknown> {
    return this.#lanes[laneOf(call.session)]!.add(call);
  }

  /** One connection listens for all. Begins with a `look`. */
  watch(schema: string, listener: ((bell: Bell) => void) | undefined): void {
    if (listener) this.#listeners.set(schema, listener);
    else this.#listeners.delete(schema);
    if (this.#listeners.size === 0) {
      this.#doorbell?.close();
      this.#doorbell = undefined;
    } else if (!this.#doorbell) {
      this.#doorbell = new Doorbell(this.config, (bell, of) => {
        if (of !== undefined) return this.#listeners.get(of)?.(bell);
        for (const each of this.#listeners.values()) each(bell);
      });
    } else if (listener && this.#doorbell.isListening) {
      queueMicrotask(() => listener({ type: "look" }));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#doorbell?.close();
    await this.drained();
    await Promise.all([this.#pool.end(), this.#searchPool?.end()]);
  }

  async drained(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.drained()));
  }

  #poolForSearches(): Pool {
    // It takes longer to compile such a statement than to perform it.
    return (this.#searchPool ??= openPool({
      ...this.config,
      options: options("jit=off"),
      max: SEARCH_CONNECTIONS,
    }));
  }

  /** A transaction has the calls of one schema alone. */
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
   * All calls in one transaction. If one fails, each in its own: that is rare, and savepoints would cost every time. Sessions
   * go in one order everywhere, so that two processes that both write several of them cannot wait for each other.
   */
  async #commit(schema: string, calls: readonly PostgresCall[]): Promise<Outcome[]> {
    const single = calls.length === 1 ? calls[0]!.single() : undefined;
    try {
      if (single) {
        const value = await this.use(schema, (client) => performAsync(single, on(client)));
        return [{ ok: true, value }];
      }
      return await this.transaction(schema, async (client) => {
        const outcomes = new Map<PostgresCall, Outcome>();
        for (const call of calls.toSorted(bySession)) {
          outcomes.set(call, { ok: true, value: await performAsync(call.single() ?? call.work(), on(client)) });
        }
        return calls.map((call) => outcomes.get(call)!);
      });
    } catch (error) {
      // Whether all was stored after all is unknown then.
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

/** `?connections=N` in the URL: a fleet has many processes, and a server room for so many connections. */
function connectionsOf(url: string): number {
  const wanted = Number(URL.parse(url)?.searchParams.get("connections") ?? CONNECTIONS);
  if (Number.isInteger(wanted) && wanted >= 1) return wanted;
  throw new TandemError("bad_location", "The number of connections in the database's URL is not one.", {
    fix: `Write connections=${CONNECTIONS}, or leave it out.`,
  });
}

/** Connections with a transaction that could not be undone. */
const spoilt = new WeakSet<PoolClient>();

/** Whose tables a connection's statements mean; unknown while it is being changed, and after that has failed. */
const schemas = new WeakMap<PoolClient, string | undefined>();

/** Outside of any transaction, which could take it back. What is prepared is analysed anew by Postgres where it changes. */
async function switchTo(client: PoolClient, schema: string): Promise<void> {
  const now = schemas.has(client) ? schemas.get(client) : POSTGRES_SCHEMA;
  if (now === schema) return;
  schemas.set(client, undefined);
  await client.query(`set search_path to "${schema}"`);
  schemas.set(client, schema);
}

function openPool(config: PoolConfig): Pool {
  const pool = new Pool({ ...config, allowExitOnIdle: true });
  // A connection that dies while nobody uses it is replaced; without listeners, it would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** Statements on this connection. */
export const on =
  (client: Pick<PoolClient, "query">) =>
  async ({ parts, values, name }: Sql): Promise<unknown[]> => {
    const text = parts.reduce((all, part, index) => `${all}$${index}${part}`);
    return (await client.query({ text, values: [...values], ...(name && { name }) })).rows as unknown[];
  };

/** The same for a session as long as this process lives. */
const laneOf = (session: string): number => (session.charCodeAt(session.length - 1) || 0) % LANES;

const bySession = (a: PostgresCall, b: PostgresCall): number =>
  a.session < b.session ? -1 : a.session > b.session ? 1 : 0;

const isUnavailable = (error: unknown): boolean => error instanceof RequestError && error.code === "unavailable";
