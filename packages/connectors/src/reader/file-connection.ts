import { resolve } from "node:path";
import { ConnectionError } from "../connection-error.ts";
import type { Connection, Dialect, QueryEstimate, QueryOptions, Rows, StructureOptions, Table } from "../connection.ts";
import { Pool } from "../pool.ts";
import { queryLimits, type QueryLimits } from "../query-limits.ts";
import { ReaderProcess } from "./reader-process.ts";
import type { Reply, ReaderQuery, Request } from "./reader.ts";

/** Readers do not wait for each other; each is a process. */
const PROCESSES = 4;

interface Kind {
  dialect: Dialect;
  /** What a process that reads such a file runs. */
  child: URL;
  /** How long a process may keep the file open when nobody asks for anything. */
  idleMs?: number;
}

/** A database that is a file. */
export class FileConnection implements Connection {
  readonly dialect: Dialect;
  readonly #pool: Pool<ReaderProcess>;

  private constructor(path: string, kind: Kind) {
    this.dialect = kind.dialect;
    this.#pool = new Pool(() => ReaderProcess.open(kind.child, path), { size: PROCESSES, idleMs: kind.idleMs });
  }

  static async open(path: string, kind: Kind): Promise<FileConnection> {
    const connection = new FileConnection(resolve(path), kind);
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
