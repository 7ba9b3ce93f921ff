import type { Connection } from "@tandem/connectors";
import { attempt, compileMetric, MetricError } from "@tandem/metrics";
import { type MetricProblem, TandemError } from "@tandem/protocol";
import { type FoundMetric, metricsOf } from "./describe-metric.ts";
import { type ConnectionMetrics, problemOf } from "./metrics-reader.ts";

/** Bounds how long a check waits for the database to plan one metric. */
const EXPLAIN_MS = 10_000;
const UNREACHABLE: ReadonlySet<string> = new Set(["connection_failed", "connection_refused", "secret_unavailable"]);

/** Files that cannot be read, and definitions that the catalogue does not support. */
export function modelProblems({ connection, files, model }: ConnectionMetrics): MetricProblem[] {
  const unreadable = files.flatMap((file): MetricProblem[] => {
    const message = problemOf(file);
    return message === undefined ? [] : [{ connection, path: file.path, message, fix: `Correct ${file.path}.` }];
  });
  const broken = model.broken.map(({ entity, name, message, fix }): MetricProblem => ({
    connection,
    path: files.find(({ read }) => read.success && read.value.entity === entity)?.path ?? "",
    entity,
    ...(name !== undefined && { name }),
    message,
    ...(fix !== undefined && { fix }),
  }));
  return [...unreadable, ...broken];
}

/** Compiles metrics, and lets the database plan each statement. */
export async function explainMetrics(
  connected: ConnectionMetrics,
  isWanted: (found: FoundMetric) => boolean,
  open: (connection: string) => Promise<Connection>,
  signal: AbortSignal,
): Promise<{ problems: MetricProblem[]; unreachable?: string }> {
  const usable = metricsOf(connected).filter((found) => found.metric && isWanted(found));
  const problems: MetricProblem[] = [];
  const statements: { found: FoundMetric; sql: string }[] = [];
  for (const found of usable) {
    const compiled = attempt(() => compileMetric(connected.model, found.name));
    if (compiled instanceof MetricError) problems.push(asProblem(connected, found, compiled));
    else statements.push({ found, sql: compiled.sql });
  }
  if (statements.length === 0) return { problems };
  try {
    const database = await open(connected.connection);
    for (const { found, sql } of statements) {
      const error = await database.estimate(sql, { signal, timeoutMs: EXPLAIN_MS }).then(() => undefined, asRefusal);
      if (error && UNREACHABLE.has(error.code)) throw error;
      if (error) problems.push(asProblem(connected, found, error));
    }
    return { problems };
  } catch (error) {
    signal.throwIfAborted();
    const refusal = asRefusal(error);
    return { problems, unreachable: refusal.message };
  }
}

function asRefusal(error: unknown): TandemError {
  if (error instanceof TandemError) return error;
  throw error;
}

const asProblem = (
  { connection }: ConnectionMetrics,
  { name, entity, file }: FoundMetric,
  { message, fix }: TandemError,
): MetricProblem => ({ connection, path: file.path, entity, name, message, ...(fix !== "" && { fix }) });

/** Problems that `after` has and `before` had not. */
export function newProblems(before: readonly MetricProblem[], after: readonly MetricProblem[]): MetricProblem[] {
  const key = ({ path, entity, name, message }: MetricProblem) => JSON.stringify([path, entity, name, message]);
  const known = new Set(before.map(key));
  return after.filter((problem) => !known.has(key(problem)));
}
