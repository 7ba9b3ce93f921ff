import { resolve } from "node:path";
import { ConnectionError } from "../connection-error.ts";
import type { Connection, Dialect, QueryEstimate, QueryOptions, Rows, StructureOptions, Table } from "../connection.ts";
import { Pool } from "../pool.ts";
import { queryLimits, type QueryLimits } from "../query-limits.ts";
import { ReaderProcess } from "./reader-process.ts";
import type { Reply, ReaderQuery, Request } from "./reader.ts";

/** Concurrent queries each need a process. */
const PROCESSES = 4;

interface FileDriver {
  dialect: Dialect;
  /** Entry point of the reader process. */
  child: URL;
  /** Time until an idle process closes the file. */
  idleMs?: number;
}

/** A database in a file. */
export class FileConnection implements Connection {
  readonly dialect: Dialect;
  readonly #pool: Pool<ReaderProcess>;

  private constructor(path: string, driver: FileDriver) {
    this.dialect = driver.dialect;
    this.#pool = new Pool(() => ReaderProcess.open(driver.child, path), { size: PROCESSES, idleMs: driver.idleMs });
  }

  static async open(path: string, driver: FileDriver): Promise<FileConnection> {
    const connection = new FileConnection(resolve(path), driver);
    await connection.#pool.use(queryLimits(), async () => {});
    return connection;
  }

  async structure({ onSkipped, ...options }: StructureOptions = {}): Promise<Table[]> {
    const reply = expected(await this.#ask({ type: "structure" }, queryLimits(options)), "structure");
    for (const skipped of reply.skipped) onSkipped?.(skipped);
    return reply.tables;
  }

  async query(sql: string, options: QueryOptions = {}): Promise<Rows> {
    const limits = queryLimits(options);
    return expected(await this.#ask({ type: "query", query: toQuery(sql, options, limits) }, limits), "rows").rows;
  }

  async estimate(sql: string, options: QueryOptions = {}): Promise<QueryEstimate> {
    const limits = queryLimits(options);
    const reply = await this.#ask({ type: "estimate", query: toQuery(sql, options, limits) }, limits);
    return expected(reply, "estimate").estimate;
  }

  quote(identifier: string): string {
    return `"${identifier.replaceAll('"', '""')}"`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]();
  }

  #ask(request: Request, limits: QueryLimits): Promise<Reply> {
    return this.#pool.use(limits, (reader) => reader.ask(request));
  }
}

function toQuery(sql: string, { parameters = [] }: QueryOptions, { maxRows, maxBytes }: QueryLimits): ReaderQuery {
  return { sql, parameters, maxRows, maxBytes };
}

function expected<T extends Reply["type"]>(reply: Reply, type: T): Extract<Reply, { type: T }> {
  if (reply.type === type) return reply as Extract<Reply, { type: T }>;
  throw new ConnectionError("query_failed", "The process that reads the file gave another answer than was asked for.");
}
