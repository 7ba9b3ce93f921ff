import type { Connection } from "@tandem/connectors";
import type { CataloguedTable, Model, PreparedSql, Verdict } from "@tandem/metrics";
import { RequestError, type StatementVerdict, TandemError } from "@tandem/protocol";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import { recheckKeys } from "./recheck-keys.ts";
import { resolveTables } from "./resolve-tables.ts";

/** Time for counting repeated rows and checking keys; without it, the verdict says what is possible. */
const MEASURE_MS = 2_000;

export interface JudgeQueryInput {
  catalogue: CatalogueReader;
  /** The metrics of the connection, to tell deviations. */
  model?: Model | undefined;
  name: string;
  connection: Connection;
  sql: string;
  /** Whether repeated rows are counted, which runs further statements. */
  measures: boolean;
  signal: AbortSignal;
}

/** Compares a statement with the catalogue. A failure of the judge never hinders the statement: it is `not_judged`. */
export async function judgeQuery(input: JudgeQueryInput): Promise<StatementVerdict> {
  try {
    return await judged(input);
  } catch (error) {
    input.signal.throwIfAborted();
    return { verdict: "not_judged", parts: [], reason: error instanceof Error ? error.message : String(error) };
  }
}

async function judged(input: JudgeQueryInput): Promise<StatementVerdict> {
  const { connection, sql, measures, model } = input;
  // Imported on demand, because the parser is large.
  const { prepareSql, measurementsOf, withMeasurement } = await import("@tandem/metrics");
  const prepared = await prepareSql(sql, connection.dialect);
  if ("reason" in prepared) return { verdict: "not_judged", parts: [], reason: prepared.reason };
  const deadline = performance.now() + MEASURE_MS;
  const known = await resolveTables(prepared.named, input);
  const { tables, notes } = await trustedTables(prepared, known, input, deadline);
  let verdict = prepared.judge(tables, model);
  for (const measurement of measures ? measurementsOf(sql, connection.dialect, verdict) : []) {
    const row = await ask(measurement.sql, input, deadline);
    if (row) verdict = withMeasurement(verdict, measurement, row);
  }
  const doubted = withNotes(verdict, notes);
  return { ...shown(doubted), ...(await repairOf(prepared, doubted, tables, input, deadline)) };
}

/** Keys that no constraint enforces count only while the data still agrees. They are checked if the verdict depends on them. */
async function trustedTables(
  prepared: PreparedSql,
  known: readonly CataloguedTable[],
  input: JudgeQueryInput,
  deadline: number,
): Promise<{ tables: readonly CataloguedTable[]; notes: readonly string[] }> {
  const enforced = known.map((table) => ({
    ...table,
    keys: table.keys.filter((key) => !table.observedKeys?.includes(key)),
  }));
  const outcome = (tables: readonly CataloguedTable[]): string => JSON.stringify(prepared.judge(tables));
  if (known.every(({ observedKeys = [] }) => observedKeys.length === 0) || outcome(known) === outcome(enforced)) {
    return { tables: known, notes: [] };
  }
  return recheckKeys(known, input.connection, (sql) => ask(sql, input, deadline));
}

function withNotes(verdict: Verdict, notes: readonly string[]): Verdict {
  if (notes.length === 0) return verdict;
  const parts = verdict.parts.map((part) =>
    part.kind === "can_inflate" || part.kind === "inflated"
      ? { ...part, message: [part.message, ...notes].join(" ") }
      : part,
  );
  return { ...verdict, parts };
}

const REPAIRED: ReadonlySet<string> = new Set(["inflated", "can_inflate", "wrong_grain"]);

/** A rewritten statement is offered only if it is proven and the database accepts it. */
async function repairOf(
  prepared: PreparedSql,
  { parts }: Verdict,
  tables: readonly CataloguedTable[],
  { connection, model, signal }: JudgeQueryInput,
  deadline: number,
): Promise<Pick<StatementVerdict, "instead" | "rewrite">> {
  if (!parts.some(({ kind, factor }) => REPAIRED.has(kind) && factor !== 1)) return {};
  const { instead, rewrite } = await prepared.repair(tables, model);
  const timeoutMs = deadline - performance.now();
  const isAccepted =
    rewrite !== undefined &&
    timeoutMs > 0 &&
    (await connection.estimate(rewrite, { timeoutMs, signal }).catch(refused)) !== undefined;
  return { ...(instead && { instead }), ...(isAccepted && { rewrite }) };
}

/** The first row of a statement's result. Undefined if it is slow or refused. */
async function ask(
  sql: string,
  { connection, signal }: JudgeQueryInput,
  deadline: number,
): Promise<readonly unknown[] | undefined> {
  const timeoutMs = deadline - performance.now();
  if (timeoutMs <= 0) return undefined;
  const result = await connection.query(sql, { maxRows: 1, timeoutMs, signal }).catch(refused);
  return result && (result.rows[0] ?? []);
}

function refused(error: unknown): undefined {
  if (!(error instanceof TandemError)) throw error;
}

const shown = ({ verdict, parts, reason }: Verdict): StatementVerdict => ({
  verdict,
  parts: parts.map(({ measurable: _measurable, ...part }) => part),
  ...(reason !== undefined && { reason }),
});

const HARMLESS: ReadonlySet<string> = new Set(["proven", "lossy", "deviates", "not_judged"]);

/** Throws if the numbers of a statement are wrong or can be. */
export function refuseUnsound({ verdict, parts, rewrite }: StatementVerdict): void {
  const wrong = parts.filter(({ kind, factor }) => !HARMLESS.has(kind) && factor !== 1);
  if (wrong.length === 0) return;
  throw new RequestError(
    "invalid_request",
    `The statement was not run (${verdict}): ${wrong.map(({ message }) => message).join(" ")}`,
    {
      fix:
        rewrite === undefined
          ? "Aggregate each table before joining it, or use the joins that join_path gives."
          : `Run this instead:\n${rewrite}`,
    },
  );
}
