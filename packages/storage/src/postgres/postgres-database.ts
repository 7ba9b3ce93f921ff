import { RequestError } from "@tandem/protocol";
import { Pool, types, type ClientConfig, type PoolClient, type PoolConfig } from "pg";
import type { Bell, Database } from "../database.ts";
import { Lane, type Outcome } from "../lane.ts";
import { migrate, POSTGRES, POSTGRES_SCHEMA, schemaVersion, SCHEMA_VERSION } from "../operations/migrations.ts";
import type { Operation } from "../operation.ts";
import { unavailable } from "../refusal.ts";
import { performAsync, sql, type Sql, type Work } from "../sql.ts";
import { toTandemError } from "../to-tandem-error.ts";
import { Doorbell } from "./doorbell.ts";
import { isConnectionLost, translate } from "./postgres-error.ts";

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
const { INT8 } = types.builtins;

interface Call {
  session: string;
  work(): Work<unknown>;
  single(): Work<unknown> | undefined;
}

/** A Postgres database. The writes of one session follow each other; those of many share commits. */
export class PostgresDatabase implements Database {
  readonly engine = "postgres";
  readonly place: string;
  readonly #config: ClientConfig;
  readonly #pool: Pool;
  #searchPool: Pool | undefined;
  readonly #lanes = Array.from({ length: LANES }, () => new Lane<Call>((calls) => this.#commit(calls)));
  #doorbell: Doorbell | undefined;
  #closing: Promise<void> | undefined;

  private constructor(url: string) {
    this.place = withoutPassword(url);
    this.#config = {
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      application_name: "tandem",
      // Every page that we read has an index in its order. Before it has statistics, Postgres would rather sort all of a log.
      options: `-c search_path=${POSTGRES_SCHEMA} -c enable_sort=off`,
      // Counters and times are well below 2^53.
      types: {
        getTypeParser: (oid, format) => (oid === INT8 ? Number : types.getTypeParser(oid, format)) as never,
      },
    };
    this.#pool = openPool({ ...this.#config, max: CONNECTIONS });
  }

  static async open(url: string): Promise<PostgresDatabase> {
    const database = new PostgresDatabase(url);
    try {
      if (!(await database.#isUpToDate())) {
        await database.#transaction((client) => performAsync(migrate(POSTGRES), on(client)));
      }
      return database;
    } catch (error) {
      await database[Symbol.asyncDispose]();
      throw translate(error);
    }
  }

  async read<A, T>(operation: Operation<A, T>, args: A, purpose?: "search"): Promise<T> {
    if (this.#closing) throw closed();
    try {
      return await performAsync(operation.work(args), on(purpose ? this.#poolForSearches() : this.#pool));
    } catch (error) {
      throw translate(error);
    }
  }

  async write<A, T>(operation: Operation<A, T>, args: A, session?: string): Promise<T> {
    if (this.#closing) throw closed();
    // Without a session, nothing else is likely to want the same rows.
    if (session === undefined) return this.#transaction((client) => performAsync(operation.work(args), on(client)));
    const call: Call = { session, work: () => operation.work(args), single: () => operation.single?.(args) };
    return (await this.#lanes[laneOf(session)]!.add(call)) as T;
  }

  watch(listener: ((bell: Bell) => void) | undefined): void {
    this.#doorbell?.close();
    this.#doorbell = listener && new Doorbell(this.#config, listener);
  }

  async bytes(): Promise<number> {
    const rows = await on(this.#pool)(sql`
      select cast(coalesce(sum(pg_total_relation_size(pg_class.oid)), 0) as bigint) as bytes
      from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = ${POSTGRES_SCHEMA} and relkind = 'r'`);
    return (rows as { bytes: number }[])[0]!.bytes;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#doorbell?.close();
    await Promise.all(this.#lanes.map((lane) => lane.drained()));
    await Promise.all([this.#pool.end(), this.#searchPool?.end()]);
  }

  #poolForSearches(): Pool {
    // It takes longer to compile such a statement than to perform it.
    const options = `-c search_path=${POSTGRES_SCHEMA} -c jit=off`;
    return (this.#searchPool ??= openPool({ ...this.#config, options, max: SEARCH_CONNECTIONS }));
  }

  /** Looked at without a lock, so that a role that may not create anything can use what is there. */
  async #isUpToDate(): Promise<boolean> {
    const execute = on(this.#pool);
    const [row] = await execute(sql`select to_regclass(${`${POSTGRES_SCHEMA}.schema_version`}) as found`);
    if ((row as { found: string | null }).found === null) return false;
    return (await performAsync(schemaVersion(), execute)) === SCHEMA_VERSION;
  }

  /**
   * All calls in one transaction. If one fails, each in its own: that is rare, and savepoints would cost every time. Sessions
   * go in one order everywhere, so that two processes that both write several of them cannot wait for each other.
   */
  async #commit(calls: readonly Call[]): Promise<Outcome[]> {
    const single = calls.length === 1 ? calls[0]!.single() : undefined;
    try {
      if (single) return [{ ok: true, value: await performAsync(single, on(this.#pool)) }];
      return await this.#transaction(async (client) => {
        const outcomes = new Map<Call, Outcome>();
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
        const [outcome] = await this.#commit([call]).catch((error: unknown) => [{ ok: false, error } as const]);
        outcomes.push(outcome!);
      }
      return outcomes;
    }
  }

  async #transaction<T>(body: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw translate(error);
    });
    let isUsable = true;
    try {
      await client.query("begin");
      const value = await body(client);
      await client.query("commit");
      return value;
    } catch (error) {
      isUsable = !isConnectionLost(error) && (await succeeds(client.query("rollback")));
      throw translate(error);
    } finally {
      client.release(!isUsable);
    }
  }
}

function openPool(config: PoolConfig): Pool {
  const pool = new Pool({ ...config, allowExitOnIdle: true });
  // A connection that dies while nobody uses it is replaced; without listeners, it would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** Statements on this connection, or on any of the pool. */
const on =
  (target: Pool | PoolClient) =>
  async ({ parts, values, name }: Sql): Promise<unknown[]> => {
    const text = parts.reduce((all, part, index) => `${all}$${index}${part}`);
    return (await target.query({ text, values: [...values], ...(name && { name }) })).rows as unknown[];
  };

const succeeds = (attempt: Promise<unknown>): Promise<boolean> =>
  attempt.then(
    () => true,
    () => false,
  );

/** The same for a session as long as this process lives. */
const laneOf = (session: string): number => (session.charCodeAt(session.length - 1) || 0) % LANES;

const bySession = (a: Call, b: Call): number => (a.session < b.session ? -1 : a.session > b.session ? 1 : 0);

const isUnavailable = (error: unknown): boolean => error instanceof RequestError && error.code === "unavailable";

const closed = (): Error => toTandemError(unavailable("it has been closed").reason);

function withoutPassword(url: string): string {
  const parsed = URL.parse(url);
  if (!parsed) return "postgres";
  parsed.password = "";
  parsed.searchParams.delete("password");
  return parsed.href;
}
