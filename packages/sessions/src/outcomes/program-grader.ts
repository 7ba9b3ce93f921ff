import { RequestError, type ProgramGrader } from "@tandem/protocol";
import { isDeepStrictEqual } from "node:util";
import type { SessionCommands } from "../commands/session-commands.ts";
import { errorDetail } from "../log/error-detail.ts";
import type { Grade, GradingTask } from "./grader.ts";

const ATTEMPTS = 2;
const DEFAULT_SECONDS = 600;
/** The end of a command's output that explains the verdict. */
const MAX_EXPLANATION = 8_000;
const MAX_ROWS = 20;

type SqlValue = string | number | boolean | null;

/** The configured database connections, for graders that query. */
export interface GraderQueries {
  names(): readonly string[];
  /** Only reads. */
  run(
    connection: string,
    query: string,
    signal: AbortSignal,
  ): Promise<{ columns: readonly string[]; rows: readonly (readonly SqlValue[])[]; truncated: boolean }>;
}

interface ProgramGraderDependencies {
  commands: Pick<SessionCommands, "shell">;
  queries: GraderQueries | undefined;
}

/** A verdict of a program: `satisfied` or `needs_revision`. A program that cannot run twice is a `failed` evaluation. */
export async function gradeByProgram(
  grader: ProgramGrader,
  { row }: GradingTask,
  signal: AbortSignal,
  { commands, queries }: ProgramGraderDependencies,
): Promise<Grade> {
  let problem = "";
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      if (grader.type === "sql") return await gradeByQuery(grader, signal, queries);
      const { command, timeout_seconds: seconds = DEFAULT_SECONDS } = grader;
      const run = await commands.shell(row, command, signal, seconds * 1_000);
      const output = run.output.slice(-MAX_EXPLANATION).trimEnd();
      const explanation = `\`${command}\` ended with ${run.exitCode ?? "a signal"}.${output ? `\n${output}` : ""}`;
      return { result: run.exitCode === 0 ? "satisfied" : "needs_revision", explanation, reported: {} };
    } catch (error) {
      if (signal.aborted) throw error;
      problem = errorDetail(error).message;
    }
  }
  return { result: "failed", explanation: `The grader could not run: ${problem}`, reported: {} };
}

async function gradeByQuery(
  { connection, query, rows: expected = [] }: Extract<ProgramGrader, { type: "sql" }>,
  signal: AbortSignal,
  queries: GraderQueries | undefined,
): Promise<Grade> {
  checkConnection(connection, queries);
  const { columns, rows, truncated } = await queries.run(connection, query, signal);
  if (!truncated && isDeepStrictEqual(rows.map(plain), expected.map(plain))) {
    return { result: "satisfied", explanation: `The query on ${connection} returned the expected rows.`, reported: {} };
  }
  const shown = [columns, ...rows.slice(0, MAX_ROWS)].map((row) => row.map(String).join(" | ")).join("\n");
  const wanted = expected.length === 0 ? "no rows" : JSON.stringify(expected.slice(0, MAX_ROWS));
  const explanation = `The query on ${connection} returned ${rows.length} ${rows.length === 1 ? "row" : "rows"}; expected ${wanted}.`;
  return { result: "needs_revision", explanation: `${explanation}\n${shown}`.slice(0, MAX_EXPLANATION), reported: {} };
}

/** Databases return the same number as different types. */
const plain = (row: readonly SqlValue[]): (string | null)[] =>
  row.map((value) => (value === null ? null : String(value)));

export function checkConnection(name: string, queries: GraderQueries | undefined): asserts queries {
  const names = queries?.names() ?? [];
  if (names.includes(name)) return;
  throw new RequestError("invalid_request", `The grader's connection "${name}" is not configured.`, {
    fix: names.length > 0 ? `Configured: ${names.join(", ")}.` : "Add it under `connections` in tandem.yaml.",
  });
}
