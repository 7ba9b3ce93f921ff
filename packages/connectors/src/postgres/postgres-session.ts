import { setTimeout as delay } from "node:timers/promises";
import { Client, type QueryArrayConfig, type QueryArrayResult } from "pg";
import type { Rows } from "../connection.ts";
import type { Pooled } from "../pool.ts";
import { CONNECT_TIMEOUT_MS, type QueryLimits } from "../query-limits.ts";
import { RowsCollector } from "../rows-collector.ts";
import type { ServerAddress } from "../server-address.ts";
import { toConnectionError } from "./postgres-error.ts";
import { toValue } from "./postgres-values.ts";

/** Fetch a few rows first, because they may be wide; then adapt to their size. */
const FIRST_ROWS = 16;
const MAX_ROWS_AT_ONCE = 1_024;
const CLOSE_TIMEOUT_MS = 500;
const BYTES_AT_ONCE = 1_000_000;

type TextRow = (string | null)[];

/** One connection with read-only transactions. */
export class PostgresSession implements Pooled {
  readonly #client: Client;
  readonly #address: ServerAddress;
  #isAlive = true;
  #isReading = false;

  private constructor(url: string, address: ServerAddress) {
    this.#address = address;
    this.#client = new Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: "tandem",
      keepAlive: true,
      types: { getTypeParser: () => (text: string) => text },
    });
    this.#client.on("error", () => (this.#isAlive = false));
    this.#client.on("end", () => (this.#isAlive = false));
  }

  static async open(url: string, address: ServerAddress, schemas?: readonly string[]): Promise<PostgresSession> {
    const session = new PostgresSession(url, address);
    try {
      await session.#client.connect();
      await session.#client.query(SETTINGS);
      const path = schemas?.map((schema) => session.#client.escapeIdentifier(schema)) ?? (await session.#ownPath());
      await session.#client.query(`set search_path = ${["pg_catalog", ...path, "pg_temp"].join(", ")}`);
      return session;
    } catch (error) {
      await session.end();
      throw toConnectionError(error, address);
    }
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Runs all queries in a read-only transaction with a timeout. */
  async reading<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
    this.#isReading = true;
    try {
      await this.#client.query(`begin read only; set local statement_timeout = ${Math.max(1, Math.ceil(timeoutMs))}`);
      const result = await work();
      await this.#client.query("rollback");
      return result;
    } catch (error) {
      await this.#client.query("rollback").catch(() => (this.#isAlive = false));
      throw toConnectionError(error, this.#address);
    } finally {
      this.#isReading = false;
    }
  }

  /** Runs an internal query and returns all rows. */
  async ask(sql: string, values: readonly unknown[] = []): Promise<TextRow[]> {
    return (await this.#run(sql, values)).rows;
  }

  /** A cursor makes the server send only the requested rows. It also accepts only read-only queries. */
  async readThroughCursor(sql: string, values: readonly unknown[], limits: QueryLimits): Promise<Rows> {
    await this.#run(`declare reading no scroll cursor for ${sql}`, values);
    let collector: RowsCollector | undefined;
    for (let count = FIRST_ROWS; ;) {
      count = Math.min(count, collector?.wanted ?? limits.maxRows + 1);
      const { fields, rows } = await this.#run(`fetch forward ${count} from reading`);
      collector ??= new RowsCollector(
        fields.map(({ name }) => name),
        limits,
      );
      for (const row of rows) {
        if (!collector.add(row.map((text, index) => toValue(text, fields[index]!.dataTypeID))))
          return collector.result();
      }
      if (rows.length < count) return collector.result();
      count = nextCount(rows);
    }
  }

  /** For EXPLAIN, which cannot use a cursor. */
  async readAll(sql: string, values: readonly unknown[], limits: QueryLimits): Promise<Rows> {
    const { fields, rows } = await this.#run(sql, values);
    const collector = new RowsCollector(
      fields.map(({ name }) => name),
      limits,
    );
    rows.every((row) => collector.add(row.map((text, index) => toValue(text, fields[index]!.dataTypeID))));
    return collector.result();
  }

  /** During a query, drop the connection without a goodbye: the server notices and aborts the query. */
  async end(): Promise<void> {
    this.#isAlive = false;
    if (!this.#isReading)
      await Promise.race([this.#client.end().catch(() => {}), delay(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
    this.#client.connection.stream.destroy();
  }

  /** The role's search path, for unqualified names. */
  async #ownPath(): Promise<string[]> {
    const rows = await this.ask("select unnest(current_schemas(false))");
    return rows.map(([schema]) => this.#client.escapeIdentifier(schema!));
  }

  async #run(sql: string, values: readonly unknown[] = []): Promise<QueryArrayResult<TextRow>> {
    // The extended protocol accepts only one statement, as a second safeguard.
    const config: QueryArrayConfig & { queryMode: "extended" } = {
      text: sql,
      values: [...values],
      rowMode: "array",
      queryMode: "extended",
    };
    return await this.#client.query<TextRow>(config);
  }
}

function nextCount(rows: readonly TextRow[]): number {
  const bytes = rows.reduce((sum, row) => row.reduce((part, text) => part + (text?.length ?? 0), sum), 0);
  return Math.max(1, Math.min(MAX_ROWS_AT_ONCE, Math.floor(BYTES_AT_ONCE / (bytes / rows.length + 1))));
}

/** Read-only by default, even outside of a transaction. The server aborts idle transactions. */
const SETTINGS = `
  set session characteristics as transaction read only;
  set default_transaction_read_only = on;
  set timezone = 'UTC';
  set datestyle = 'ISO, YMD';
  set intervalstyle = 'iso_8601';
  set bytea_output = 'hex';
  set extra_float_digits = 1;
  set standard_conforming_strings = on;
  set client_encoding = 'UTF8';
  set lock_timeout = '5s';
  set idle_in_transaction_session_timeout = '60s';
  select set_config('client_connection_check_interval', '1s', false)
  where current_setting('server_version_num')::int >= 140000;`;
