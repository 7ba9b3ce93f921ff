import { columnKind, type Connection, type Dialect, openConnection } from "@tandem/connectors";
import { type CataloguedTable, judgeSql, measurementsOf, type Verdict, withMeasurement } from "@tandem/metrics";
import { join } from "node:path";
import { handWritten } from "./hand-written.ts";
import { numbersFrom, randomJoin } from "./random-join.ts";
import { TPCH, writeTpchShape } from "./tpch-shape.ts";

export interface VerdictFigures {
  database: string;
  statements: number;
  proven: number;
  /** Statements that count a row twice, by the data. */
  inflated: number;
  /** Those of them that passed for sound. */
  falselyProven: string[];
  notJudged: number;
  /** Statements whose rows could not be counted in time; they are in no other figure. */
  uncounted: number;
  /** Of the inflated ones, those that are flagged after measuring. */
  recall: number;
  staticP95: number;
  measureMax: number;
}

const DOUBTS = new Set(["inflated", "can_inflate", "wrong_grain"]);

/** Judges random statements over a database, and compares the verdicts with its data. */
export async function measureVerdicts(
  database: string,
  connection: Connection,
  tables: readonly CataloguedTable[],
  count: number,
): Promise<VerdictFigures> {
  const figures = {
    database,
    statements: count,
    proven: 0,
    inflated: 0,
    falselyProven: [] as string[],
    notJudged: 0,
    uncounted: 0,
  };
  const [statics, measures]: [number[], number[]] = [[], [0]];
  let flagged = 0;
  await judgeSql("select 1", connection.dialect, async () => tables);
  for (let seed = 1; seed <= count; seed += 1) {
    const { sql, repeated } = randomJoin(tables, seed);
    // A join of unrelated columns can be too large to be counted.
    const truth = await connection.query(repeated, { maxRows: 1, timeoutMs: 1_500 }).catch(() => undefined);
    if (!truth) {
      figures.uncounted += 1;
      continue;
    }
    const isInflated = truth.rows.length > 0;
    const started = performance.now();
    let verdict = await judgeSql(sql, connection.dialect, async () => tables);
    statics.push(performance.now() - started);
    const measuring = performance.now();
    for (const measurement of measurementsOf(sql, connection.dialect, verdict))
      verdict = await measured(measurement, verdict);
    measures.push(performance.now() - measuring);
    const isDoubted = verdict.parts.some(({ kind }) => DOUBTS.has(kind));
    if (verdict.verdict === "proven") figures.proven += 1;
    if (verdict.verdict === "not_judged") figures.notJudged += 1;
    if (!isInflated) continue;
    figures.inflated += 1;
    if (isDoubted || verdict.verdict === "not_judged") flagged += isDoubted ? 1 : 0;
    else figures.falselyProven.push(`${verdict.verdict}: ${sql}`);
  }
  const sorted = statics.toSorted((a, b) => a - b);
  return {
    ...figures,
    recall: figures.inflated === 0 ? 1 : flagged / figures.inflated,
    staticP95: sorted[Math.floor(sorted.length * 0.95)] ?? 0,
    measureMax: Math.max(...measures),
  };

  async function measured(measurement: ReturnType<typeof measurementsOf>[number], before: Verdict): Promise<Verdict> {
    const { rows } = await connection
      .query(measurement.sql, { maxRows: 1, timeoutMs: 2_000 })
      .catch(() => ({ rows: [] }));
    return rows[0] ? withMeasurement(before, measurement, rows[0]) : before;
  }
}

/** The sample databases and the TPC-H-shaped one, with the keys and joins that they declare. */
export async function openDatabases(
  folder: string,
): Promise<{ name: string; connection: Connection; tables: CataloguedTable[] }[]> {
  const data = join(import.meta.dirname, "..", "data");
  const samples = await Promise.all(
    ["chinook", "northwind"].map(async (name) => {
      const connection = await openConnection({ driver: "sqlite", path: join(data, `${name}.sqlite`) });
      return { name, connection, tables: await cataloguedTables(connection) };
    }),
  );
  const path = join(folder, "tpch.duckdb");
  await writeTpchShape(path);
  const connection = await openConnection({ driver: "duckdb", path });
  const tables = (await cataloguedTables(connection)).map((table): CataloguedTable => ({
    ...table,
    keys: [TPCH.keys[table.name]!],
    joins: TPCH.references.flatMap(([from, columns, to]) =>
      from === table.name ? [{ columns, to: { schema: "main", name: to }, toColumns: TPCH.keys[to]! }] : [],
    ),
  }));
  return [...samples, { name: "tpch shape", connection, tables }];
}

async function cataloguedTables(connection: Connection): Promise<CataloguedTable[]> {
  const tables = await connection.structure();
  return tables
    .filter(({ type }) => type === "table")
    .map(({ schema, name, columns, primaryKey, uniqueKeys, foreignKeys }) => ({
      schema,
      name,
      columns: columns.map((column) => ({ name: column.name, type: column.type, kind: columnKind(column.type) })),
      keys: [primaryKey, ...uniqueKeys].filter((key) => key.length > 0),
      joins: foreignKeys.map(({ columns: own, to, toColumns }) => ({ columns: own, to, toColumns })),
    }));
}

/** The share of ordinary statements that are not judged, with their reasons. */
export async function notJudged(
  dialect: Dialect,
  tables: readonly CataloguedTable[],
): Promise<{ count: number; reasons: string[] }> {
  const statements = handWritten(dialect);
  const reasons: string[] = [];
  for (const sql of statements) {
    const { verdict, reason } = await judgeSql(sql, dialect, async () => tables);
    if (verdict === "not_judged") reasons.push(`${reason}: ${sql}`);
  }
  return { count: statements.length, reasons };
}

/** Judges texts with random damage. Returns those that are proven although the database refuses them. */
export async function judgeDamaged(
  connection: Connection,
  tables: readonly CataloguedTable[],
  count: number,
): Promise<{ proven: number; refused: string[] }> {
  const refused: string[] = [];
  let proven = 0;
  for (let seed = 1; seed <= count; seed += 1) {
    const random = numbersFrom(seed);
    const words = randomJoin(tables, seed).sql.split(/(?<=[\s(),.])/);
    const at = Math.floor(random() * words.length);
    const other = words[Math.floor(random() * words.length)]!;
    const sql = words.toSpliced(at, random() < 0.5 ? 1 : 0, ...(random() < 0.5 ? [other] : [])).join("");
    const { verdict } = await judgeSql(sql, connection.dialect, async () => tables);
    if (verdict !== "proven") continue;
    proven += 1;
    if (!(await connection.estimate(sql).catch(() => undefined))) refused.push(sql);
  }
  return { proven, refused };
}
