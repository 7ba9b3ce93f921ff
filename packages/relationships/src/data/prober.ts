import { inParallel } from "@tandem/protocol";
import { type ColumnKind, type Connection, ConnectionError, type Rows, type TableName } from "@tandem/connectors";
import { disjointOverlap } from "./known-values.ts";
import type { Overlap } from "./overlap.ts";
import { type Sample, spreadSample } from "./spread-sample.ts";
import { type ColumnFacts, isNumericText, type TableFacts } from "./table-facts.ts";

/** A query: how many values of `from` are among those of `to`? */
export interface Probe {
  from: readonly ColumnFacts[];
  to: readonly ColumnFacts[];
  /** Only rows with this value. */
  when?: { column: string; equals: string };
}

/** The limits that end a search early. */
export type Budget = "pairs" | "queries" | "seconds";

export interface ProberLimits {
  /** Maximum number of pairs to compare. */
  pairs: number;
  /** Maximum number of queries; many pairs share one. */
  queries: number;
  /** Milliseconds since the epoch. */
  deadline: number;
  timeoutMs: number;
  concurrency: number;
  signal?: AbortSignal | undefined;
}

/** Pairs whose values were not compared. */
export interface NotCompared {
  pairs: number;
  /** Tables of the referring columns. */
  tables: TableName[];
  /** The budgets that were used up; empty if the queries failed. */
  budgets: Budget[];
}

/** A probe that checks as many may have left out others. */
export const VALUES_PER_PROBE = 1_000;
const ROWS_PER_PROBE = 8_000;
const PROBES_PER_QUERY = 12;

/** Compares values of column pairs, several pairs per query, each once, within the budget. */
export class Prober {
  readonly #connection: Connection;
  readonly #known = new Map<string, Overlap>();
  readonly #counted = new Map<string, Rows["rows"]>();
  readonly #spreads = new Map<TableFacts, Promise<Sample | undefined>>();
  readonly #unanswered = new Map<string, Probe>();
  readonly #budgets = new Set<Budget>();
  #limits: ProberLimits;
  #pairs = 0;
  #queries = 0;

  constructor(connection: Connection, limits: ProberLimits) {
    this.#connection = connection;
    this.#limits = limits;
  }

  /** Number of pairs compared. */
  get asked(): number {
    return this.#pairs;
  }

  get notCompared(): NotCompared {
    const tables = new Map([...this.#unanswered.values()].map(({ from }) => [from[0]!.table.id, from[0]!.table.name]));
    return { pairs: this.#unanswered.size, tables: [...tables.values()], budgets: [...this.#budgets] };
  }

  /** For a second round: keeps answers, and allows unanswered pairs again. */
  renew(limits: ProberLimits): void {
    this.#limits = limits;
    [this.#pairs, this.#queries] = [0, 0];
    this.#unanswered.clear();
    this.#budgets.clear();
  }

  answerTo(probe: Probe): Overlap | undefined {
    return this.#known.get(idOf(probe));
  }

  /** Most promising first: those beyond the budget stay unanswered. */
  async ask(probes: readonly Probe[], onProgress?: (done: number, total: number) => void): Promise<void> {
    const open = new Map<string, Probe>();
    for (const probe of probes) {
      const id = idOf(probe);
      const disjoint =
        probe.from.length === 1 && !probe.when ? disjointOverlap(probe.from[0]!, probe.to[0]!) : undefined;
      if (disjoint) this.#known.set(id, disjoint);
      if (!this.#known.has(id)) open.set(id, probe);
    }
    const asked = [...open].slice(0, Math.max(0, this.#limits.pairs - this.#pairs));
    if (asked.length < open.size) this.#budgets.add("pairs");
    for (const [id, probe] of open) this.#unanswered.set(id, probe);
    this.#pairs += asked.length;
    const batches = Array.from({ length: Math.ceil(asked.length / PROBES_PER_QUERY) }, (_, i) =>
      asked.slice(i * PROBES_PER_QUERY, (i + 1) * PROBES_PER_QUERY).map(([, probe]) => probe),
    );
    let done = 0;
    await inParallel(batches, this.#limits.concurrency, async (batch) => {
      if (!(await this.#run(batch)) && !this.#isUsedUp()) {
        // One pair of the batch fails: retry each alone.
        for (const probe of batch) await this.#run([probe]);
      }
      onProgress?.((done += batch.length), asked.length);
    });
  }

  async #run(batch: readonly Probe[]): Promise<boolean> {
    if (this.#isUsedUp()) return false;
    const selects = await Promise.all(batch.map((probe, i) => this.#selectOf(probe, i)));
    const sql = selects.join(" UNION ALL ");
    const rows = await this.#query(
      sql,
      batch.flatMap(({ when }) => (when ? [when.equals] : [])),
    );
    for (const row of rows ?? []) {
      const [index = 0, checked = 0, found = 0, none = 0, all = 0, foundRows = 0] = row.map(Number);
      const id = idOf(batch[index]!);
      this.#known.set(id, { checked, found, none: Math.min(none, checked - found), rows: all, foundRows });
      this.#unanswered.delete(id);
    }
    return rows !== undefined;
  }

  /** The rows, or undefined if the budget is used up or the query fails. Cached per query. */
  async query(sql: string, parameters: readonly string[] = []): Promise<Rows["rows"] | undefined> {
    const id = parameters.length === 0 ? sql : JSON.stringify([sql, parameters]);
    const rows = this.#counted.get(id) ?? (await this.#query(sql, parameters));
    if (rows) this.#counted.set(id, rows);
    return rows;
  }

  #isUsedUp(): boolean {
    if (this.#queries >= this.#limits.queries) this.#budgets.add("queries");
    else if (Date.now() >= this.#limits.deadline) this.#budgets.add("seconds");
    else return false;
    return true;
  }

  async #query(sql: string, parameters: readonly string[]): Promise<Rows["rows"] | undefined> {
    const { signal, deadline } = this.#limits;
    signal?.throwIfAborted();
    if (this.#isUsedUp()) return undefined;
    this.#queries++;
    const timeoutMs = Math.min(this.#limits.timeoutMs, deadline - Date.now());
    try {
      return (await this.#connection.query(sql, { parameters, timeoutMs, signal })).rows;
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ConnectionError) return undefined;
      throw error;
    }
  }

  tableOf = ({ name }: TableFacts): string => `${this.quote(name.schema)}.${this.quote(name.name)}`;
  quote = (name: string): string => this.#connection.quote(name);
  asText = (sql: string): string => `CAST(${sql} AS ${this.#connection.dialect === "mysql" ? "CHAR" : "TEXT"})`;

  /** Text of a number without padding: `0042` and 42 are equal, and text that is no number causes no error. */
  #asNumber(sql: string): string {
    const text = `trim(${this.asText(sql)})`;
    return this.#connection.dialect === "mysql" ? `trim(LEADING '0' FROM ${text})` : `ltrim(${text}, '0')`;
  }

  /** How the values of two columns become comparable: as they are, as numbers or as text. */
  #comparison(from: ColumnFacts, to: ColumnFacts): (sql: string) => string {
    if (areComparable(from.declaredKind, to.declaredKind)) return (sql) => sql;
    const isNumber = (column: ColumnFacts) => column.kind === "integer" || isNumericText(column);
    return isNumber(from) && isNumber(to) ? (sql) => this.#asNumber(sql) : this.asText;
  }

  /** Values from the whole range of a large table; otherwise its first ones. */
  async #valuesOf({ from, when }: Probe, where: string): Promise<string> {
    const { table } = from[0]!;
    const columns = from.map((column, i) => `${this.quote(column.name)} AS v${i}`);
    const names = from.map(({ name }) => this.quote(name)).join(", ");
    const first = `SELECT ${columns.join(", ")}, count(*) AS n FROM ${this.tableOf(table)} WHERE ${where} GROUP BY ${names} LIMIT ${VALUES_PER_PROBE}`;
    const isSparse = from.some(({ profile }) => (profile?.nulls ?? 0) > 0.5);
    if (!table.rows || table.seenWhole || when || isSparse) return first;
    let spread = this.#spreads.get(table);
    if (!spread) {
      const { timeoutMs, signal } = this.#limits;
      spread = spreadSample(this.#connection, { ...table.name, rows: table.rows }, ROWS_PER_PROBE, {
        timeoutMs,
        signal,
      });
      this.#spreads.set(table, spread);
    }
    const rows = (await spread)?.(columns, ROWS_PER_PROBE, where);
    const values = from.map((_, i) => `v${i}`).join(", ");
    return rows === undefined ? first : `SELECT ${values}, count(*) AS n FROM (${rows}) spread GROUP BY ${values}`;
  }

  async #selectOf(probe: Probe, index: number): Promise<string> {
    const { from, to, when } = probe;
    const filled = from.map(({ name }) => `${this.quote(name)} IS NOT NULL`);
    const comparisons = from.map((column, i) => this.#comparison(column, to[i]!));
    const mine = comparisons.map((compared, i) => compared(`v${i}`)).join(", ");
    const theirs = comparisons.map((compared, i) => compared(this.quote(to[i]!.name))).join(", ");
    const present = to.map(({ name }) => `${this.quote(name)} IS NOT NULL`).join(" AND ");
    if (when) filled.push(`${this.asText(this.quote(when.column))} = ?`);
    const tuple = from.length > 1 ? `(${mine})` : mine;
    const isFound = `${tuple} IN (SELECT ${theirs} FROM ${this.tableOf(to[0]!.table)} WHERE ${present})`;
    const isNone = from.length > 1 ? "1 = 0" : `${this.asText("v0")} IN ('0', '-1', '')`;
    return (
      `SELECT ${index} AS probe, count(*) AS checked, coalesce(sum(hit), 0) AS found, ` +
      `${countIf(isNone)} AS absent, coalesce(sum(n), 0) AS total, coalesce(sum(hit * n), 0) AS hits ` +
      `FROM (SELECT s${index}.*, CASE WHEN ${isFound} THEN 1 ELSE 0 END AS hit ` +
      `FROM (${await this.#valuesOf(probe, filled.join(" AND "))}) s${index}) t${index}`
    );
  }
}

const NUMBERS = new Set<ColumnKind>(["integer", "decimal"]);
const areComparable = (a: ColumnKind, b: ColumnKind): boolean => a === b || (NUMBERS.has(a) && NUMBERS.has(b));

const countIf = (condition: string): string => `coalesce(sum(CASE WHEN ${condition} THEN 1 ELSE 0 END), 0)`;

const idOf = ({ from, to, when }: Probe): string =>
  JSON.stringify([from[0]?.table.id, from.map(({ name }) => name), to[0]?.table.id, to.map(({ name }) => name), when]);
