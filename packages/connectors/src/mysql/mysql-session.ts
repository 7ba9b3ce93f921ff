import type { Readable } from "node:stream";
import { createConnection, type Connection, type FieldPacket } from "mysql2";
import type { Rows } from "../connection.ts";
import type { Pooled } from "../pool.ts";
import { CONNECT_TIMEOUT_MS, type QueryLimits } from "../query-limits.ts";
import { RowsCollector } from "../rows-collector.ts";
import type { ServerAddress } from "../server-address.ts";
import { toConnectionError } from "./mysql-error.ts";
import { toValue } from "./mysql-values.ts";

type RawRow = (Buffer | null)[];
/** Rows buffered here; backpressure keeps the rest at the server. */
const ROWS_AHEAD = 16;

/** One connection with read-only transactions. */
export class MysqlSession implements Pooled {
  readonly #url: string;
  readonly #address: ServerAddress;
  readonly #connection: Connection;
  #isMariaDb = false;
  #isReading = false;
  #isAlive = true;
  /**
   * The active stream. The driver reports a lost connection only on the connection, so the reader would wait forever.
   */
  #reads: Readable | undefined;

  private constructor(url: string, address: ServerAddress) {
    this.#url = url;
    this.#address = address;
    this.#connection = connect(url);
    this.#connection.on("error", (error) => this.#lost(error));
    this.#connection.on("end", () => this.#lost(connectionLost()));
  }

  static async open(url: string, address: ServerAddress): Promise<MysqlSession> {
    const session = new MysqlSession(url, address);
    try {
      await new Promise<void>((resolve, reject) =>
        session.#connection.connect((error) => (error ? reject(error) : resolve())),
      );
      const [[version]] = (await session.ask("select version()")) as [[string]];
      session.#isMariaDb = /mariadb/i.test(version);
      for (const setting of SETTINGS) await session.ask(setting);
      return session;
    } catch (error) {
      session.end();
      throw toConnectionError(error, address);
    }
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Runs all queries in a read-only transaction with limits. */
  async reading<T>(limits: QueryLimits, work: () => Promise<T>): Promise<T> {
    this.#isReading = true;
    try {
      await this.ask(this.#deadline(limits.timeoutMs));
      await this.ask("start transaction read only");
      const result = await work();
      if (this.#isAlive) await this.ask("rollback");
      return result;
    } catch (error) {
      await this.ask("rollback").catch(() => (this.#isAlive = false));
      throw toConnectionError(error, this.#address);
    } finally {
      this.#isReading = false;
    }
  }

  /** Runs an internal query and returns all rows as text. */
  async ask(sql: string, values: readonly unknown[] = []): Promise<(string | null)[][]> {
    const rows: (string | null)[][] = [];
    await this.#stream(this.#connection.format(sql, [...values]), (row) => {
      rows.push(row.map((bytes) => bytes?.toString("utf8") ?? null));
      return true;
    });
    return rows;
  }

  /** Limits rows on the server, unless the query has its own limit. */
  async read(sql: string, limits: QueryLimits): Promise<Rows> {
    await this.ask(`set session sql_select_limit = ${Math.min(limits.maxRows, Number.MAX_SAFE_INTEGER - 1) + 1}`);
    let collector = new RowsCollector([], limits);
    try {
      await this.#stream(
        this.#marked(sql, limits),
        (row, fields) => collector.add(row.map((bytes, index) => toValue(bytes, fields[index]!))),
        (fields) => {
          collector = new RowsCollector(
            fields.map(({ name }) => name),
            limits,
          );
        },
      );
    } finally {
      if (this.#isAlive) await this.ask("set session sql_select_limit = default").catch(() => (this.#isAlive = false));
    }
    return collector.result();
  }

  /** In MariaDB the server's statistics tell our reads from others by this form, because they drop comments. */
  #marked(sql: string, { timeoutMs }: QueryLimits): string {
    return this.#isMariaDb && /^\s*(\(|select\b|with\b)/i.test(sql)
      ? `set statement max_statement_time = ${timeoutMs / 1000} for ${sql}`
      : sql;
  }

  end(): void {
    if (this.#isReading && this.#isAlive) this.#killQuery();
    this.#isAlive = false;
    this.#connection.destroy();
  }

  /** Streams rows. To stop early, the connection is closed, because the server would send all rows. */
  async #stream(
    sql: string,
    each: (row: RawRow, fields: FieldPacket[]) => boolean,
    before: (fields: FieldPacket[]) => void = () => {},
  ): Promise<void> {
    if (!this.#isAlive) throw connectionLost();
    let fields: FieldPacket[] = [];
    const query = this.#connection.query({ sql, rowsAsArray: true, typeCast: (field) => field.buffer() });
    query.on("fields", (packets: FieldPacket[]) => {
      fields = packets;
      before(packets);
    });
    this.#reads = query.stream({ highWaterMark: ROWS_AHEAD });
    for await (const row of this.#reads as AsyncIterable<RawRow>) {
      if (Array.isArray(row) && !each(row, fields)) {
        this.end();
        return;
      }
    }
  }

  #lost(error: Error): void {
    this.#isAlive = false;
    this.#reads?.destroy(error);
  }

  /** MySQL uses milliseconds; MariaDB uses seconds and another name. */
  #deadline(timeoutMs: number): string {
    return this.#isMariaDb
      ? `set session max_statement_time = ${timeoutMs / 1000}`
      : `set session max_execution_time = ${Math.max(1, Math.ceil(timeoutMs))}`;
  }

  /** The server does not notice an abandoned query; kill it over another connection. */
  #killQuery(): void {
    const killer = connect(this.#url);
    killer.on("error", () => {});
    killer.query(`kill query ${this.#connection.threadId}`, () => killer.destroy());
  }
}

function connect(url: string): Connection {
  return createConnection({
    uri: url,
    connectTimeout: CONNECT_TIMEOUT_MS,
    charset: "utf8mb4",
    multipleStatements: false,
    // Otherwise the server could request local files.
    flags: ["-LOCAL_FILES"],
    enableKeepAlive: true,
  });
}

/** The driver's code for a lost connection. */
const connectionLost = (): Error =>
  Object.assign(new Error("The server closed the connection."), { code: "PROTOCOL_CONNECTION_LOST" });

/** The SQL mode decides what is a string and what a name; the query check assumes this one. */
const SETTINGS = [
  "set session sql_mode = ''",
  "set session transaction read only",
  "set session time_zone = '+00:00'",
  "set session lock_wait_timeout = 5",
  "set session innodb_lock_wait_timeout = 5",
];
