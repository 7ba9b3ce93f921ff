import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import type { QueryEstimate, Rows, Value } from "../connection.ts";
import { refused, wrongParameters } from "../reader/failure.ts";
import type { Reader, ReaderQuery, Structure } from "../reader/reader.ts";
import { RowsCollector } from "../rows-collector.ts";
import { inspectFile, openFile, type SqliteFile } from "./sqlite-file.ts";
import { SqliteGuard } from "./sqlite-guard.ts";
import { explainFailure, NO_STATEMENT } from "./sqlite-error.ts";
import { readStructure } from "./sqlite-structure.ts";

/** One SQLite file with blocking calls, in its own process. */
export class SqliteReader implements Reader, Disposable {
  readonly #path: string;
  readonly #guard = new SqliteGuard();
  #file: SqliteFile;
  #database: DatabaseSync;

  constructor(path: string) {
    this.#path = path;
    this.#file = inspectFile(path);
    this.#database = this.#open(this.#file);
  }

  query(query: ReaderQuery): Rows {
    return this.#read(query, (asked) => asked);
  }

  /** SQLite explains its plan, but has no row estimates. */
  estimate(query: ReaderQuery): QueryEstimate {
    const { rows } = this.#read(query, (asked) => this.#prepare(`explain query plan ${asked.sourceSQL}`));
    return { plan: rows.map((row) => row.at(-1)).join("\n") };
  }

  structure(): Structure {
    return this.#consistently(() => readStructure((sql, ...values) => this.#database.prepare(sql).all(...values)));
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #read(query: ReaderQuery, choose: (asked: StatementSync) => StatementSync): Rows {
    return this.#consistently(() => {
      const statement = choose(this.#prepareOne(query.sql, query.parameters.length));
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

  /** Reads again if the file was replaced, or a writer opened a quiet file, during the read. */
  #consistently<T>(read: () => T): T {
    for (;;) {
      this.#guard.reset();
      this.#refresh();
      try {
        const result = read();
        if (!this.#file.isQuiet || !this.#refresh()) return result;
      } catch (error) {
        if (!this.#refresh()) throw explainFailure(error, this.#path, this.#guard.denied);
      }
    }
  }

  /** Reopens the file if it has changed; returns whether it did. */
  #refresh(): boolean {
    const file = inspectFile(this.#path);
    if (file.identity === this.#file.identity) return false;
    const database = this.#open(file);
    this.#database.close();
    this.#database = database;
    this.#file = file;
    return true;
  }

  #open(file: SqliteFile): DatabaseSync {
    try {
      const database = openFile(file);
      connectSpatialTables(database);
      database.setAuthorizer(this.#guard.judge);
      // SQLite detects a non-database only when it reads the first page.
      database.prepare("select count(*) from sqlite_schema").get();
      return database;
    } catch (error) {
      throw explainFailure(error, this.#path);
    }
  }

  #prepareOne(sql: string, parameters: number): StatementSync {
    // SQLite would stop reading at NUL and ignore the rest.
    if (sql.includes("\0") || !sql.isWellFormed()) {
      throw refused("it is not text");
    }
    const statement = this.#prepare(sql);
    if (!this.#guard.hasQuery) throw refused("only a SELECT can be run");
    if (!this.#isBlank(sql.slice(statement.sourceSQL.length))) {
      throw refused("there is more than one statement");
    }
    const wanted = this.#countParameters(statement);
    if (wanted > parameters) throw wrongParameters(wanted, parameters);
    return statement;
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
    return statement;
  }

  /** SQLite reports where the first statement ends; checks that only space and comments follow. */
  #isBlank(rest: string): boolean {
    try {
      this.#database.prepare(rest);
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === NO_STATEMENT;
    }
  }

  /** SQLite would treat missing parameters as null. `explain` lists the ones that are used. */
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

/**
 * On first use, an R-Tree prepares write statements, which the guard would deny. So it is touched before the guard is
 * installed. Nothing is executed, and the file is open read-only.
 */
function connectSpatialTables(database: DatabaseSync): void {
  const virtual = database.prepare("select name, sql from sqlite_schema where type = 'table' and rootpage = 0").all();
  for (const { name, sql } of virtual) {
    if (!/^\s*create\s+virtual\s+table\b[\s\S]*?\busing\s+(rtree|rtree_i32|geopoly)\b/i.test(String(sql))) continue;
    try {
      database.prepare("select count(*) from pragma_table_xinfo(?)").get(name!);
    } catch {
      // A query on the table reports the error.
    }
  }
}
