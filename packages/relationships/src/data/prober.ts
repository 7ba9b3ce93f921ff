import { inParallel } from "@tandem/protocol";
import { type ColumnKind, type Connection, ConnectionError, type Rows } from "@tandem/connectors";
import { type Sample, spreadSample } from "./spread-sample.ts";
import type { ColumnFacts, TableFacts } from "./table-facts.ts";

/** A query: how many values of `from` are among those of `to`? */
export interface Probe {
  from: readonly ColumnFacts[];
  to: readonly ColumnFacts[];
  /** Only rows with this value. */
  when?: { column: string; equals: string };
}

/** Distinct values checked, found, and missing ones that mean "none": 0, -1, empty text. */
export interface Overlap {
  checked: number;
  found: number;
  none: number;
}

export interface ProberLimits {
  /** Maximum number of probes. */
  probes: number;
  /** Milliseconds since the epoch. */
  deadline: number;
  timeoutMs: number;
  concurrency: number;
  signal?: AbortSignal | undefined;
}

const VALUES_PER_PROBE = 1_000;
const ROWS_PER_PROBE = 8_000;
const PROBES_PER_QUERY = 12;

/** Runs probes, several per query, each once, within the budget. */
export class Prober {
  readonly #connection: Connection;
  readonly #known = new Map<string, Overlap>();
  readonly #counted = new Map<string, Rows["rows"]>();
  readonly #spreads = new Map<TableFacts, Promise<Sample | undefined>>();
  #limits: ProberLimits;
  #left: number;
  /** Probes not answered for lack of budget or time, or because of an error. */
  unanswered = 0;

  constructor(connection: Connection, limits: ProberLimits) {
    this.#connection = connection;
    this.#limits = limits;
    this.#left = limits.probes;
  }

  get asked(): number {
    return this.#limits.probes - this.#left;
  }

  /** For a second round: keeps answers, and allows unanswered probes again. */
  renew(limits: ProberLimits): void {
    this.#limits = limits;
    this.#left = limits.probes;
    this.unanswered = 0;
  }

  answerTo(probe: Probe): Overlap | undefined {
    return this.#known.get(idOf(probe));
  }

  /** Most promising first: those beyond the budget stay unanswered. */
  async ask(probes: readonly Probe[]): Promise<void> {
    const open = new Map(probes.map((probe) => [idOf(probe), probe]));
    for (const id of this.#known.keys()) open.delete(id);
    const allowed = [...open.values()].slice(0, this.#left);
    this.unanswered += open.size - allowed.length;
    this.#left -= allowed.length;
    const batches = Array.from({ length: Math.ceil(allowed.length / PROBES_PER_QUERY) }, (_, i) =>
      allowed.slice(i * PROBES_PER_QUERY, (i + 1) * PROBES_PER_QUERY),
    );
    await inParallel(batches, this.#limits.concurrency, async (batch) => {
      if (await this.#run(batch)) return;
      // One probe of the batch fails: retry each alone.
      for (const probe of batch) if (!(await this.#run([probe]))) this.unanswered++;
    });
  }

  async #run(batch: readonly Probe[]): Promise<boolean> {
    const selects = await Promise.all(batch.map((probe, i) => this.#selectOf(probe, i)));
    const sql = selects.join(" UNION ALL ");
    const rows = await this.#query(
      sql,
      batch.flatMap(({ when }) => (when ? [when.equals] : [])),
    );
    for (const row of rows ?? []) {
      const [index = 0, checked = 0, found = 0, none = 0] = row.map(Number);
      this.#known.set(idOf(batch[index]!), { checked, found, none: Math.min(none, checked - found) });
    }
    return rows !== undefined;
  }

  /** The rows, or undefined after the deadline or an error. Cached per query. */
  async query(sql: string): Promise<Rows["rows"] | undefined> {
    const rows = this.#counted.get(sql) ?? (await this.#query(sql));
    if (rows) this.#counted.set(sql, rows);
    return rows;
  }

  async #query(sql: string, parameters: readonly string[] = []): Promise<Rows["rows"] | undefined> {
    const { signal, deadline } = this.#limits;
    signal?.throwIfAborted();
    const timeoutMs = Math.min(this.#limits.timeoutMs, deadline - Date.now());
    if (timeoutMs <= 0) return undefined;
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

  /** Values from the whole range of a large table; otherwise its first ones. */
  async #valuesOf({ from, when }: Probe, where: string): Promise<string> {
    const { table } = from[0]!;
    const columns = from.map((column, i) => `${this.quote(column.name)} AS v${i}`);
    const first = `SELECT DISTINCT ${columns.join(", ")} FROM ${this.tableOf(table)} WHERE ${where} LIMIT ${VALUES_PER_PROBE}`;
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
    return rows === undefined ? first : `SELECT DISTINCT * FROM (${rows}) spread`;
  }

  async #selectOf(probe: Probe, index: number): Promise<string> {
    const { from, to, when } = probe;
    const filled = from.map(({ name }) => `${this.quote(name)} IS NOT NULL`);
    // Numbers stored as text are compared as text on all databases.
    const casts = from.map((column, i) => !areComparable(column.declaredKind, to[i]!.declaredKind));
    const mine = from.map((_, i) => (casts[i] ? this.asText(`v${i}`) : `v${i}`)).join(", ");
    const theirs = to.map(({ name }, i) => (casts[i] ? this.asText(this.quote(name)) : this.quote(name))).join(", ");
    const present = to.map(({ name }) => `${this.quote(name)} IS NOT NULL`).join(" AND ");
    if (when) filled.push(`${this.asText(this.quote(when.column))} = ?`);
    const tuple = from.length > 1 ? `(${mine})` : mine;
    const isFound = `${tuple} IN (SELECT ${theirs} FROM ${this.tableOf(to[0]!.table)} WHERE ${present})`;
    const isNone = from.length > 1 ? "1 = 0" : `${this.asText("v0")} IN ('0', '-1', '')`;
    return (
      `SELECT ${index} AS probe, count(*) AS checked, ${countIf(isFound)} AS found, ${countIf(isNone)} AS absent ` +
      `FROM (${await this.#valuesOf(probe, filled.join(" AND "))}) s${index}`
    );
  }
}

const NUMBERS = new Set<ColumnKind>(["integer", "decimal"]);
const areComparable = (a: ColumnKind, b: ColumnKind): boolean => a === b || (NUMBERS.has(a) && NUMBERS.has(b));

const countIf = (condition: string): string => `coalesce(sum(CASE WHEN ${condition} THEN 1 ELSE 0 END), 0)`;

const idOf = ({ from, to, when }: Probe): string =>
  JSON.stringify([from[0]?.table.id, from.map(({ name }) => name), to[0]?.table.id, to.map(({ name }) => name), when]);
