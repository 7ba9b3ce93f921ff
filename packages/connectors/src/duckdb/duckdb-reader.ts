import { StatementType, type DuckDBConnection, type DuckDBPreparedStatement } from "@duckdb/node-api";
import type { QueryEstimate, Rows, Value } from "../connection.ts";
import { refused, wrongParameters } from "../reader/failure.ts";
import type { Reader, ReaderQuery, Structure } from "../reader/reader.ts";
import { RowsCollector } from "../rows-collector.ts";
import { splitExplain } from "../split-explain.ts";
import { readEstimate } from "./duckdb-estimate.ts";
import { DuckdbGuard } from "./duckdb-guard.ts";
import { readStructure } from "./duckdb-structure.ts";
import { toValue } from "./duckdb-values.ts";
import { explainFailure } from "./duckdb-error.ts";
import { openFile } from "./open-file.ts";

const ALL = { maxRows: Infinity, maxBytes: Infinity };

/** One DuckDB file, in its own process. */
export class DuckdbReader implements Reader {
  readonly #path: string;
  readonly #connection: DuckDBConnection;
  readonly #guard: DuckdbGuard;

  private constructor(path: string, connection: DuckDBConnection) {
    this.#path = path;
    this.#connection = connection;
    this.#guard = new DuckdbGuard(async (sql, ...parameters) => {
      const rows = await (await connection.run(sql, parameters)).getRows();
      return String(rows[0]?.[0]);
    });
  }

  static async open(path: string): Promise<DuckdbReader> {
    try {
      return new DuckdbReader(path, await openFile(path));
    } catch (error) {
      throw explainFailure(error, path);
    }
  }

  async query(query: ReaderQuery): Promise<Rows> {
    const { isExplain, sql } = splitExplain(query.sql);
    return await this.#translated(async () => {
      await this.#guard.judge(sql);
      return await this.#run(isExplain ? `explain ${sql}` : sql, query.parameters, query);
    });
  }

  async estimate(query: ReaderQuery): Promise<QueryEstimate> {
    return await this.#translated(async () => {
      await this.#guard.judge(query.sql);
      const { rows } = await this.#run(`explain (format json) ${query.sql}`, query.parameters, ALL);
      return readEstimate(String(rows[0]?.[1]));
    });
  }

  async structure(): Promise<Structure> {
    const ask = async (sql: string) => (await this.#run(sql, [], ALL)).rows;
    return { tables: await this.#translated(() => readStructure(ask)), skipped: [] };
  }

  async #run(sql: string, parameters: readonly Value[], caps: { maxRows: number; maxBytes: number }): Promise<Rows> {
    const statements = await this.#connection.extractStatements(sql);
    if (statements.count !== 1) throw refused("there is more than one statement");
    const statement = await statements.prepare(0);
    if (statement.statementType !== StatementType.SELECT && statement.statementType !== StatementType.EXPLAIN) {
      throw refused("only a SELECT can be run");
    }
    bind(statement, parameters);
    const result = await statement.stream();
    const types = result.columnTypes();
    const collector = new RowsCollector(result.columnNames(), caps);
    for (;;) {
      const chunk = await result.fetchChunk();
      if (!chunk || chunk.rowCount === 0) return collector.result();
      const vectors = types.map((_, column) => chunk.getColumnVector(column));
      for (let row = 0; row < chunk.rowCount; row += 1) {
        const values = vectors.map((vector, column) => toValue(vector.getItem(row), types[column]!));
        if (!collector.add(values)) return collector.result();
      }
    }
  }

  async #translated<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw explainFailure(error, this.#path);
    }
  }
}

function bind(statement: DuckDBPreparedStatement, parameters: readonly Value[]): void {
  if (statement.parameterCount !== parameters.length)
    throw wrongParameters(statement.parameterCount, parameters.length);
  for (const [index, value] of parameters.entries()) {
    const position = index + 1;
    if (value === null) statement.bindNull(position);
    else if (typeof value === "boolean") statement.bindBoolean(position, value);
    else if (typeof value === "string") statement.bindVarchar(position, value);
    else if (Number.isSafeInteger(value)) statement.bindBigInt(position, BigInt(value));
    else statement.bindDouble(position, value);
  }
}
