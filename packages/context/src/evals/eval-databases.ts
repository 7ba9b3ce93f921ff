import type { Connection, Rows } from "@tandem/connectors";
import { type MetricQuery, type StatementVerdict, TandemError } from "@tandem/protocol";
import { z } from "zod";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import type { ContextTool } from "../context-tool.ts";
import { judgeQuery } from "../verdict/judge-query.ts";
import { queryAnswer } from "../tools/sql-tool.ts";
import type { ResultSet } from "./compare-rows.ts";
import type { EvalFile, Expectation } from "../formats/eval-file.ts";
import type { AskedQuestion } from "./load-evals.ts";

/** A result with more rows is not compared. */
const MOST_ROWS = 10_000;
const MOST_BYTES = 16 * 1_024 * 1_024;
const TIMEOUT_MS = 30_000;

export type Ran = { rows: ResultSet; error?: undefined } | { rows?: undefined; error: string };

export interface EvalConnections {
  open(name: string): Promise<Connection>;
  /** A copy of the database with changed rows; undefined if the database cannot be copied. */
  openPerturbed?(name: string, changes: EvalFile["perturb"], signal: AbortSignal): Promise<Connection | undefined>;
}

/** Runs gold and answered statements, each gold statement once. */
export class EvalDatabases {
  readonly #connections: EvalConnections;
  readonly #signal: AbortSignal;
  readonly #copies = new Map<string, Promise<Connection | undefined>>();
  readonly #gold = new Map<string, Promise<Ran>>();

  constructor(connections: EvalConnections, signal: AbortSignal) {
    this.#connections = connections;
    this.#signal = signal;
  }

  /** The expected rows; undefined for a question without an answer. */
  gold({ path, file, question }: AskedQuestion, tools: readonly ContextTool[]): Promise<Ran> | undefined {
    const { expect } = question;
    if (expect.kind === "abstain" || expect.kind === "clarify") return undefined;
    const key = `${path}#${question.id}`;
    const known = this.#gold.get(key);
    if (known) return known;
    const running = this.#goldOf(file, expect, tools);
    this.#gold.set(key, running);
    return running;
  }

  async #goldOf(
    { connection }: EvalFile,
    expect: Extract<Expectation, { kind: "rows" | "metric" | "sql" }>,
    tools: readonly ContextTool[],
  ): Promise<Ran> {
    if (expect.kind === "rows") return { rows: { columns: expect.columns, rows: expect.rows } };
    if (expect.kind === "metric") return await this.metric(connection, expect.metric, tools);
    const ran = await this.sql(connection, expect.sql);
    if (ran.rows?.rows.length === 0) return { error: "it returns no rows" };
    return ran;
  }

  async sql(name: string, sql: string): Promise<Ran> {
    return await this.#query(await this.#connections.open(name), sql);
  }

  /** Undefined if there is no perturbed copy. */
  async perturbedSql(file: EvalFile, sql: string): Promise<Ran | undefined> {
    const copy = await this.#copyOf(file);
    return copy && (await this.#query(copy, sql));
  }

  async metric(connection: string, query: MetricQuery, tools: readonly ContextTool[]): Promise<Ran> {
    const tool = tools.find(({ name }) => name === "metric_query");
    if (!tool) return { error: "metric queries are not available here" };
    try {
      const { structured } = await tool.run({ ...query, connection }, { signal: this.#signal, by: "evals" });
      const { columns, rows } = metricRows.parse(structured);
      return { rows: { columns: columns.map((column) => (typeof column === "string" ? column : column.name)), rows } };
    } catch (error) {
      return failed(error, this.#signal);
    }
  }

  async judge(
    catalogue: CatalogueReader,
    name: string,
    sql: string,
    { measures }: { measures: boolean },
  ): Promise<StatementVerdict> {
    const connection = await this.#connections.open(name);
    return judgeQuery({ catalogue, name, connection, sql, measures, signal: this.#signal });
  }

  /** Tables and columns as the database declares them. */
  async structure(name: string) {
    return await (await this.#connections.open(name)).structure({ signal: this.#signal });
  }

  async dialect(name: string) {
    return (await this.#connections.open(name)).dialect;
  }

  #copyOf({ connection, perturb }: EvalFile): Promise<Connection | undefined> {
    if (perturb.length === 0 || !this.#connections.openPerturbed) return Promise.resolve(undefined);
    const key = JSON.stringify([connection, perturb]);
    const known = this.#copies.get(key);
    if (known) return known;
    const opening = this.#connections.openPerturbed(connection, perturb, this.#signal);
    this.#copies.set(key, opening);
    return opening;
  }

  async #query(connection: Connection, sql: string): Promise<Ran> {
    try {
      const limits = { maxRows: MOST_ROWS, maxBytes: MOST_BYTES, timeoutMs: TIMEOUT_MS, signal: this.#signal };
      const rows: Rows = await connection.query(sql, limits);
      return rows.truncated ? { error: `it returns more than ${MOST_ROWS} rows` } : { rows };
    } catch (error) {
      return failed(error, this.#signal);
    }
  }
}

const metricRows = queryAnswer.pick({ rows: true }).extend({
  columns: z.array(z.union([z.string(), z.object({ name: z.string() })])),
});

/** A statement that fails is a result; anything else is a fault. */
function failed(error: unknown, signal: AbortSignal): Ran {
  signal.throwIfAborted();
  if (error instanceof TandemError) return { error: error.message };
  throw error;
}
