import type { Connection, QueryEstimate, QueryOptions, Rows, Table } from "../connection.ts";
import { Pool } from "../pool.ts";
import type { ServerLocation } from "../database-location.ts";
import { queryLimits, type QueryLimits } from "../query-limits.ts";
import { refused, wrongParameters } from "../reader/failure.ts";
import { RenewableUrl } from "../renewable-url.ts";
import { serverAddress, type ServerAddress } from "../server-address.ts";
import { judgeCalls } from "./judge-calls.ts";
import { toConnectionError } from "./postgres-error.ts";
import { estimateQuery } from "./postgres-estimate.ts";
import { judgeQuery, prepareParser, type JudgedQuery } from "./postgres-guard.ts";
import { numberParameters } from "./postgres-parameters.ts";
import { PostgresSession } from "./postgres-session.ts";
import { readStructure } from "./postgres-structure.ts";

/** Small, because other clients need connections too. */
const SESSIONS = 4;

interface Judged extends JudgedQuery {
  sql: string;
  values: readonly unknown[];
}

export class PostgresConnection implements Connection {
  readonly dialect = "postgres";
  readonly #pool: Pool<PostgresSession>;
  readonly #schemas: readonly string[] | undefined;
  readonly #address: ServerAddress;

  private constructor({ url, schemas, renew }: ServerLocation) {
    this.#address = addressOf(url);
    const place = new RenewableUrl(url, renew);
    const open = () => place.open((current) => PostgresSession.open(current, addressOf(current), schemas));
    this.#pool = new Pool(open, { size: SESSIONS });
    this.#schemas = schemas;
  }

  static async open(place: ServerLocation): Promise<PostgresConnection> {
    const connection = new PostgresConnection(place);
    await connection.#pool.use(queryLimits(), async () => {});
    return connection;
  }

  async structure(options: { signal?: AbortSignal } = {}): Promise<Table[]> {
    return await this.#reading(queryLimits(options), (session) =>
      readStructure((sql, values) => session.ask(sql, values), this.#schemas),
    );
  }

  async query(sql: string, options: QueryOptions = {}): Promise<Rows> {
    const limits = queryLimits(options);
    const judged = await this.#judge(sql, options);
    return await this.#reading(limits, async (session) => {
      await judgeCalls(judged.calls, (text, values) => session.ask(text, values));
      return judged.isExplain
        ? await session.readAll(judged.sql, judged.values, limits)
        : await session.readThroughCursor(judged.sql, judged.values, limits);
    });
  }

  async estimate(sql: string, options: QueryOptions = {}): Promise<QueryEstimate> {
    const judged = await this.#judge(sql, options);
    return await this.#reading(queryLimits(options), async (session) => {
      if (judged.isExplain) throw refused("it is an EXPLAIN already");
      const ask = session.ask.bind(session);
      // Check functions first: the planner may call them to fold constants.
      await judgeCalls(judged.calls, ask);
      return await estimateQuery(ask, judged.sql, judged.values);
    });
  }

  quote(identifier: string): string {
    return `"${identifier.replaceAll('"', '""')}"`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]();
  }

  async #judge(sql: string, options: QueryOptions): Promise<Judged> {
    try {
      return await judge(sql, options);
    } catch (error) {
      throw toConnectionError(error, this.#address);
    }
  }

  #reading<T>(limits: QueryLimits, work: (session: PostgresSession) => Promise<T>): Promise<T> {
    return this.#pool.use(limits, (session) => session.reading(limits.timeoutMs, () => work(session)));
  }
}

const addressOf = (url: string): ServerAddress => serverAddress(url, ["postgres:", "postgresql:"], 5432);

/** Checks exactly the text that is sent. */
async function judge(sql: string, { parameters = [] }: QueryOptions): Promise<Judged> {
  if (parameters.length === 0) return { sql, values: [], ...(await judgeQuery(sql)) };
  await prepareParser(sql);
  const numbered = numberParameters(sql);
  if (numbered.count !== parameters.length) throw wrongParameters(numbered.count, parameters.length);
  return { sql: numbered.sql, values: parameters, ...(await judgeQuery(numbered.sql)) };
}
