import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import type { Rows, Table, Value } from "../connection.ts";
import { RowsCollector } from "../rows-collector.ts";
import { SqliteFailure } from "./sqlite-failure.ts";
import { inspectFile, openFile, type SqliteFile } from "./sqlite-file.ts";
import { SqliteGuard } from "./sqlite-guard.ts";
import { explainFailure, NO_STATEMENT } from "./explain-failure.ts";
import { readStructure } from "./sqlite-structure.ts";

export interface SqliteQuery {
  sql: string;
  /** How it would be done, instead of doing it. */
  explain?: boolean;
  parameters: readonly Value[];
  maxRows: number;
  maxBytes: number;
}

/** One file, read with calls that block: it has a process of its own. */
export class SqliteReader implements Disposable {
  readonly #path: string;
  readonly #guard = new SqliteGuard();
  #file: SqliteFile;
  #database: DatabaseSync;

  constructor(path: string) {
    this.#path = path;
    this.#file = inspectFile(path);
    this.#database = this.#open();
  }

  query(query: SqliteQuery): Rows {
    return this.#consistently(() => {
      const asked = this.#prepareOne(query.sql, query.parameters.length);
      const statement = query.explain ? this.#prepare(`explain query plan ${asked.sourceSQL}`) : asked;
      const collector = new RowsCollector(
        statement.columns().map(({ name }) => name),
        query,
      );
      const rows = statement.iterate(...query.parameters.map(toInput)) as Iterable<unknown>;
      for (const row of rows as Iterable<SQLOutputValue[]>) {
        if (!collector.add(row.map(toValue))) break;
      }
      return collector.result();
    });
  }

  structure(): Table[] {
    return this.#consistently(() => readStructure((sql, ...values) => this.#database.prepare(sql).all(...values)));
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  /** Reads again if the file was replaced, or somebody began to write a file that was quiet, while we read. */
  #consistently<T>(read: () => T): T {
    for (;;) {
      this.#refresh();
      try {
        const result = read();
        if (!this.#file.isQuiet || !this.#refresh()) return result;
      } catch (error) {
        if (!this.#refresh()) throw explainFailure(error, this.#path, this.#guard.denied);
      }
    }
  }

  /** True if the file is not as it was: it is open anew. */
  #refresh(): boolean {
    const file = inspectFile(this.#path);
    if (file.identity === this.#file.identity) return false;
    this.#file = file;
    this.#database.close();
    this.#database = this.#open();
    return true;
  }

  #open(): DatabaseSync {
    try {
      const database = openFile(this.#file);
      database.setAuthorizer(this.#guard.judge);
      // Whether it is a database at all is not looked at before the first page is read.
      database.prepare("select count(*) from sqlite_schema").get();
      return database;
    } catch (error) {
      throw explainFailure(error, this.#path);
    }
  }

  #prepareOne(sql: string, parameters: number): StatementSync {
    this.#guard.denied = undefined;
    // SQLite would read up to the first and take the rest for nothing.
    if (sql.includes("\0") || !sql.isWellFormed()) {
      throw new SqliteFailure("query_refused", "The query has characters that are not text.");
    }
    const statement = this.#prepare(sql);
    if (!this.#isBlank(sql.slice(statement.sourceSQL.length))) {
      throw new SqliteFailure("query_refused", "There is more than one statement.", "Ask with one SELECT at a time.");
    }
    const wanted = this.#countParameters(statement);
    if (wanted > parameters) {
      throw new SqliteFailure(
        "query_failed",
        `The query has ${wanted} parameters, and ${parameters} were given.`,
        "Give one value for each `?`.",
      );
    }
    return statement;
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
    return statement;
  }

  /** SQLite says where the first statement ends, and whether what follows it is one. */
  #isBlank(rest: string): boolean {
    try {
      this.#database.prepare(rest);
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === NO_STATEMENT;
    }
  }

  /** Those that are not given would silently be null. SQLite lists what it uses where it explains its program. */
  #countParameters(statement: StatementSync): number {
    if (!/[?:@$#]/.test(statement.sourceSQL) || /^\s*explain/i.test(statement.sourceSQL)) return 0;
    const program = this.#database.prepare(`explain ${statement.sourceSQL}`).all();
    return Math.max(0, ...program.filter((step) => step["opcode"] === "Variable").map((step) => Number(step["p1"])));
  }
}

function toInput(value: Value): SQLInputValue {
  return typeof value === "boolean" ? Number(value) : value;
}

function toValue(value: SQLOutputValue): Value {
  if (value === null || typeof value === "string") return value;
  if (typeof value === "bigint") {
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  }
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  return `\\x${Buffer.from(value).toString("hex")}`;
}
