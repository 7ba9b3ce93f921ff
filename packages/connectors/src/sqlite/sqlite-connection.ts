import { resolve } from "node:path";
import type { Connection, QueryEstimate, QueryOptions, Rows, Table } from "../connection.ts";
import { Pool } from "../pool.ts";
import { queryLimits, type QueryLimits } from "../query-limits.ts";
import type { Reply, Request } from "./sqlite-messages.ts";
import { SqliteProcess } from "./sqlite-process.ts";

/** Readers do not wait for each other; each is a process. */
const PROCESSES = 4;

export class SqliteConnection implements Connection {
  readonly dialect = "sqlite";
  readonly #pool: Pool<SqliteProcess>;

  private constructor(path: string) {
    this.#pool = new Pool(() => SqliteProcess.open(path), PROCESSES);
  }

  static async open(path: string): Promise<SqliteConnection> {
    const connection = new SqliteConnection(resolve(path));
    await connection.#pool.use(queryLimits(), async () => {});
    return connection;
  }

  async structure(options: { signal?: AbortSignal } = {}): Promise<Table[]> {
    const reply = await this.#ask({ type: "structure" }, queryLimits(options));
    return reply.type === "structure" ? reply.tables : [];
  }

  async query(sql: string, options: QueryOptions = {}): Promise<Rows> {
    return await this.#read(sql, false, options);
  }

  /** SQLite tells how it would go about it, and not how much it would read. */
  async estimate(sql: string, options: QueryOptions = {}): Promise<QueryEstimate> {
    const { rows } = await this.#read(sql, true, options);
    return { plan: rows.map((row) => row.at(-1)).join("\n") };
  }

  quote(identifier: string): string {
    return `"${identifier.replaceAll('"', '""')}"`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]();
  }

  async #read(sql: string, explain: boolean, options: QueryOptions): Promise<Rows> {
    const limits = queryLimits(options);
    const { maxRows, maxBytes } = limits;
    const parameters = options.parameters ?? [];
    const reply = await this.#ask({ type: "query", sql, explain, parameters, maxRows, maxBytes }, limits);
    return reply.type === "rows" ? reply.rows : { columns: [], rows: [], truncated: false };
  }

  #ask(request: Request, limits: QueryLimits): Promise<Reply> {
    return this.#pool.use(limits, (reader) => reader.ask(request));
  }
}
