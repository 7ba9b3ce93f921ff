import { constants, DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { assembleTables } from "../../packages/connectors/src/assemble-tables.ts";
import type { QueryEstimate, Rows, Value } from "../../packages/connectors/src/connection.ts";
import { invalid, refused } from "../../packages/connectors/src/reader/failure.ts";
import type { Reader, ReaderQuery, Structure } from "../../packages/connectors/src/reader/reader.ts";
import { RowsCollector } from "../../packages/connectors/src/rows-collector.ts";

/** An allowlist: an action that a new version of the engine adds is refused until a person has reviewed it. */
const READS: ReadonlySet<number> = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_RECURSIVE,
]);
const FUNCTIONS: ReadonlySet<string> = new Set("count sum avg min max total lower upper length coalesce".split(" "));

/** A complete connector for one engine. It runs in a process of its own, which `FileConnection` ends at a deadline. */
export class ExampleReader implements Reader, Disposable {
  readonly #database: DatabaseSync;
  #isOurs = false;

  constructor(path: string) {
    // The second check: even if a query passes the first one, the file cannot be written.
    this.#database = new DatabaseSync(path, {
      readOnly: true,
      allowExtension: false,
      returnArrays: true,
      readBigInts: true,
    });
    this.#database.enableDefensive(true);
    this.#database.setAuthorizer((action, _first, name) => {
      const isRead = READS.has(action) || (action === constants.SQLITE_FUNCTION && FUNCTIONS.has(name ?? ""));
      return isRead || this.#isOurs ? constants.SQLITE_OK : constants.SQLITE_DENY;
    });
  }

  query({ sql, parameters, ...limits }: ReaderQuery): Rows {
    const statement = this.#prepare(sql);
    const collector = new RowsCollector(
      statement.columns().map(({ name }) => name),
      limits,
    );
    // Rows are read one by one, so that an endless result ends at the limit.
    const rows: Iterable<unknown> = statement.iterate(...parameters.map(toInput));
    try {
      for (const row of rows as Iterable<SQLOutputValue[]>) if (!collector.add(row.map(toValue))) break;
    } catch (error) {
      throw explained(error);
    }
    return collector.result();
  }

  estimate({ sql }: ReaderQuery): QueryEstimate {
    this.#prepare(sql);
    const steps = this.#ask(`explain query plan ${sql}`);
    return { plan: steps.map((step) => step.at(-1)).join("\n") };
  }

  /** A few queries for the whole database, not one per table. */
  structure(): Structure {
    const schema = "main";
    const relations = this.#ask(
      "select name, type = 'view' from sqlite_schema where type in ('table', 'view') and name not like 'sqlite_%'",
    );
    const columns = this.#ask(
      `select t.name, c.name, c.type, c."notnull" = 0, c.pk from sqlite_schema t, pragma_table_info(t.name) c
       where t.type in ('table', 'view') and t.name not like 'sqlite_%' order by t.name, c.cid`,
    );
    const tables = assembleTables({
      relations: relations.map(([name, isView]) => ({
        schema,
        name: String(name),
        isView: Number(isView) === 1,
        comment: null,
        rows: null,
      })),
      columns: columns.map(([table, name, type, nullable]) => ({
        schema,
        table: String(table),
        name: String(name),
        type: String(type),
        nullable: Number(nullable) === 1,
        comment: null,
      })),
      keys: columns
        .filter(([, , , , place]) => Number(place) > 0)
        .toSorted((a, b) => Number(a[4]) - Number(b[4]))
        .map(([table, column]) => ({
          schema,
          table: String(table),
          key: "primary",
          isPrimary: true,
          column: String(column),
        })),
      foreignKeys: [],
      checks: [],
    });
    return { tables, skipped: [] };
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  /** The engine's own parser decides. It reads only the first statement, so a second one is refused here. */
  #prepare(sql: string) {
    if (/;\s*\S/.test(sql)) throw refused("it may have more than one statement");
    try {
      return this.#database.prepare(sql);
    } catch (error) {
      throw explained(error);
    }
  }

  /** A query of the connector itself, which may read the engine's own tables. */
  #ask(sql: string): SQLOutputValue[][] {
    this.#isOurs = true;
    try {
      return this.#database.prepare(sql).all() as unknown as SQLOutputValue[][];
    } finally {
      this.#isOurs = false;
    }
  }
}

/** The engine checks some parts of a query, such as virtual tables, only when it runs. */
function explained(error: unknown): Error {
  const said = error instanceof Error ? error.message : String(error);
  return /not authorized/.test(said) ? refused("it does more than read") : invalid(said);
}

const toInput = (value: Value) => (typeof value === "boolean" ? Number(value) : value);

/** Integers beyond the safe range become text, so that no digit is lost; bytes become hex. */
function toValue(value: SQLOutputValue): Value {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString("hex")}` : value;
}
