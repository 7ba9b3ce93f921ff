import type { Connection, QueryEstimate, QueryOptions, Rows, Table } from "../connection.ts";
import { Pool } from "../pool.ts";
import type { ServerLocation } from "../database-location.ts";
import { queryLimits, type QueryLimits } from "../query-limits.ts";
import { RenewableUrl } from "../renewable-url.ts";
import { serverAddress, type ServerAddress } from "../server-address.ts";
import { splitExplain } from "../split-explain.ts";
import { toConnectionError } from "./mysql-error.ts";
import { type JudgedQuery, judgeQuery } from "./mysql-guard.ts";
import { MysqlSession } from "./mysql-session.ts";
import { readStructure } from "./mysql-structure.ts";
import { refused } from "../reader/failure.ts";

const SESSIONS = 4;

const addressOf = (url: string): ServerAddress => serverAddress(url, ["mysql:", "mariadb:"], 3306);

export class MysqlConnection implements Connection {
  readonly dialect = "mysql";
  readonly #pool: Pool<MysqlSession>;
  readonly #address: ServerAddress;
  readonly #schemas: readonly string[];

  private constructor({ url, schemas, renew }: ServerLocation) {
    this.#address = addressOf(url);
    const place = new RenewableUrl(url, renew);
    const open = () =>
      place.open((current) => MysqlSession.open(current.replace(/^mariadb:/, "mysql:"), addressOf(current)));
    this.#pool = new Pool(open, { size: SESSIONS });
    this.#schemas = schemas ?? (this.#address.database ? [this.#address.database] : []);
  }

  static async open(place: ServerLocation): Promise<MysqlConnection> {
    const connection = new MysqlConnection(place);
    await connection.#pool.use(queryLimits(), async () => {});
    return connection;
  }

  async structure(options: { signal?: AbortSignal } = {}): Promise<Table[]> {
    return await this.#reading(queryLimits(options), (session) =>
      readStructure((sql, values) => session.ask(sql, values), this.#schemas),
    );
  }

  async query(text: string, options: QueryOptions = {}): Promise<Rows> {
    const { isExplain, sql } = splitExplain(text);
    return await this.#read(sql, isExplain, options);
  }

  /** Sums the rows that the plan expects to read per table. */
  async estimate(sql: string, options: QueryOptions = {}): Promise<QueryEstimate> {
    const { columns, rows } = await this.#read(sql, true, options);
    const steps = rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]])));
    return {
      rows: steps.reduce((sum, step) => sum + Number(step["rows"] ?? 0), 0),
      plan: steps
        .map(({ table, type, key, rows: count, Extra: extra }) =>
          [table, type, key && `key ${key}`, count !== null && `rows ${count}`, extra].filter(Boolean).join(", "),
        )
        .join("\n"),
    };
  }

  quote(identifier: string): string {
    return `\`${identifier.replaceAll("`", "``")}\``;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]();
  }

  async #read(sql: string, explain: boolean, options: QueryOptions): Promise<Rows> {
    const limits = queryLimits(options);
    const judged = this.#judge(sql, options);
    return await this.#reading(limits, async (session) => {
      await judgeFunctions(judged.unknown, this.#address.database, (text, values) => session.ask(text, values));
      return await session.read(explain ? `explain ${judged.sql}` : judged.sql, limits);
    });
  }

  #judge(sql: string, { parameters = [] }: QueryOptions): JudgedQuery {
    try {
      return judgeQuery(sql, parameters);
    } catch (error) {
      throw toConnectionError(error, this.#address);
    }
  }

  #reading<T>(limits: QueryLimits, work: (session: MysqlSession) => Promise<T>): Promise<T> {
    return this.#pool.use(limits, (session) => session.reading(limits, () => work(session)));
  }
}

type Ask = (sql: string, values: unknown[]) => Promise<(string | null)[][]>;

/** Routines declared as read-only. Others are rejected, because their effects are unknown. */
const READING = new Set(["NO SQL", "READS SQL DATA"]);

async function judgeFunctions(unknown: readonly string[][], database: string, ask: Ask): Promise<void> {
  for (const path of unknown) {
    const name = path.at(-1)!;
    const found = await ask(
      `select sql_data_access from information_schema.routines
       where routine_type = 'FUNCTION' and routine_schema = ? and routine_name = ?`,
      [path.at(-2) ?? database, name],
    );
    if (found.length === 0 || !found.every(([access]) => READING.has(access ?? ""))) {
      throw refused(`the function ${name} is not known to only read`);
    }
  }
}
