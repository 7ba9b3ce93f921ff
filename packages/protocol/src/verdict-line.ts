import { VERDICTS, type VerdictKind } from "./words.ts";

/** The line of a tool's answer that states the verdict on a statement. It comes before all data. */
export const verdictLine = (verdict: VerdictKind): string => `Verdict: ${verdict}`;

/** Finds the verdict in the answer of `sql_query`, or in its refusal to run a statement. */
export function readVerdictLine(answer: string): VerdictKind | undefined {
  const [, line, refused] = /^\**Verdict: ([a-z_]+)|^The statement was not run \(([a-z_]+)\)/m.exec(answer) ?? [];
  return VERDICTS.find((verdict) => verdict === (line ?? refused));
}
