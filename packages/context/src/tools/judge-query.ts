import type { Connection } from "@tandem/connectors";
import type { NamedTable, Verdict } from "@tandem/metrics";
import { RequestError, type StatementVerdict, TandemError } from "@tandem/protocol";
import type { CatalogueReader } from "./catalogue-reader.ts";
import { cataloguedTable } from "./catalogued-table.ts";

/** Time for counting repeated rows; without a count, the verdict says that they are possible. */
const MEASURE_MS = 2_000;

export interface JudgeQueryInput {
  catalogue: CatalogueReader;
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
    return shown(await judged(input));
  } catch (error) {
    input.signal.throwIfAborted();
    return { verdict: "not_judged", parts: [], reason: error instanceof Error ? error.message : String(error) };
  }
}

async function judged({ catalogue, name, connection, sql, measures, signal }: JudgeQueryInput): Promise<Verdict> {
  // Imported on demand, because the parser is large.
  const { judgeSql, measurementsOf, withMeasurement } = await import("@tandem/metrics");
  const read = async (names: readonly NamedTable[]) => {
    const files = await Promise.all(
      [...new Set(names.map(qualified))].map((table) => catalogue.find(table, name).catch(unknownTable)),
    );
    return files.flatMap((file) => (file ? [cataloguedTable(file)] : []));
  };
  let verdict = await judgeSql(sql, connection.dialect, read);
  if (!measures) return verdict;
  const deadline = Date.now() + MEASURE_MS;
  for (const measurement of measurementsOf(sql, connection.dialect, verdict)) {
    const timeoutMs = deadline - Date.now();
    if (timeoutMs <= 0) break;
    const result = await connection.query(measurement.sql, { maxRows: 1, timeoutMs, signal }).catch(notMeasured);
    if (result?.rows[0]) verdict = withMeasurement(verdict, measurement, result.rows[0]);
  }
  return verdict;
}

const qualified = ({ schema, name }: NamedTable): string => (schema === undefined ? name : `${schema}.${name}`);

/** Names of subqueries are tables to the parser, and a table may not be scanned yet. */
function unknownTable(error: unknown): undefined {
  if (!(error instanceof RequestError)) throw error;
}

/** A slow or refused count leaves the verdict as it is. */
function notMeasured(error: unknown): undefined {
  if (!(error instanceof TandemError)) throw error;
}

const shown = ({ verdict, parts, reason }: Verdict): StatementVerdict => ({
  verdict,
  parts: parts.map(({ measurable: _measurable, ...part }) => part),
  ...(reason !== undefined && { reason }),
});

const HARMLESS: ReadonlySet<string> = new Set(["proven", "lossy", "deviates", "not_judged"]);

/** Throws if the numbers of a statement are wrong or can be. */
export function refuseUnsound({ verdict, parts }: StatementVerdict): void {
  const wrong = parts.filter(({ kind, factor }) => !HARMLESS.has(kind) && factor !== 1);
  if (wrong.length === 0) return;
  throw new RequestError(
    "invalid_request",
    `The statement was not run (${verdict}): ${wrong.map(({ message }) => message).join(" ")}`,
    {
      fix: "Aggregate each table before joining it, or use the joins that join_path gives.",
    },
  );
}

export function verdictText({ verdict, parts, reason }: StatementVerdict): string {
  if (verdict === "proven") return "Verdict: proven. No aggregate counts a row twice.";
  if (verdict === "not_judged") return `Verdict: not judged. ${reason ?? ""}`.trim();
  return [`**Verdict: ${verdict}**`, ...parts.map(({ message }) => `- ${message}`)].join("\n");
}
