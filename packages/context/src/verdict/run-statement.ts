import type { Connection, QueryEstimate, Rows } from "@tandem/connectors";
import { readVerdictLine, type StatementVerdict } from "@tandem/protocol";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import type { Metrics } from "../metrics/metrics-service.ts";
import { judgeQuery, refuseUnsound } from "./judge-query.ts";

export interface StatementParts {
  connect: (name: string) => Promise<Connection>;
  catalogue: CatalogueReader;
  /** To tell deviations from metrics. */
  metrics?: Pick<Metrics, "modelOf"> | undefined;
  /** How to treat statements whose numbers are wrong or can be. */
  onUnsound: "warn" | "refuse";
}

export interface Statement {
  connection: string;
  sql: string;
  /** `only`: the statement is planned, but not run. `try`: one without an estimate is run all the same. */
  estimate: "only" | "try" | "skip";
  limits: { maxRows: number; maxBytes: number };
  signal: AbortSignal;
}

export interface StatementAnswer extends Rows {
  estimate: QueryEstimate | null;
  verdict: StatementVerdict;
}

/** Judges one statement of a person or an agent, refuses it if the project says so, and runs it. */
export async function runStatement(
  { connect, catalogue, metrics, onUnsound }: StatementParts,
  { connection: name, sql, estimate: wanted, limits, signal }: Statement,
): Promise<StatementAnswer> {
  const connection = await connect(name);
  const isEstimate = wanted === "only";
  const estimate = isEstimate
    ? await connection.estimate(sql, { signal })
    : // A query without an estimate can still run; its own error is better.
      wanted === "try"
      ? await connection.estimate(sql, { signal }).catch(() => null)
      : null;
  const model = await metrics?.modelOf(name);
  const verdict = await judgeQuery({ catalogue, model, name, connection, sql, measures: !isEstimate, signal });
  if (onUnsound === "refuse") refuseUnsound(verdict);
  const rows: Rows = isEstimate
    ? { columns: [], rows: [], truncated: false }
    : await connection.query(sql, { ...limits, signal });
  return { ...rows, estimate, verdict };
}

/** Runs a statement and passes its record for the audit to `note`, also if the statement was refused or failed. */
export async function auditStatement<
  Answer extends { rows: readonly unknown[]; verdict?: StatementVerdict | undefined },
>(
  { connection, sql, estimateOnly }: { connection: string; sql: string; estimateOnly: boolean },
  note: (details: Record<string, unknown>) => Promise<void>,
  run: () => Promise<Answer>,
): Promise<Answer> {
  const details = { connection, sql, ...(estimateOnly && { estimate_only: true }) };
  let answer: Answer;
  try {
    answer = await run();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    await note({ ...details, verdict: readVerdictLine(message), is_error: true });
    throw error;
  }
  await note({ ...details, verdict: answer.verdict?.verdict, rows: answer.rows.length });
  return answer;
}
