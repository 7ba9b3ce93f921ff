import type { Dialect } from "@tandem/connectors";
import { splitSelect } from "./tree/split-select.ts";
import type { Verdict, VerdictPart } from "./verdict.ts";
import { verdictOf } from "./verdict.ts";

/** One statement that counts how often an aggregate repeats its rows. */
export interface Measurement {
  /** Index of the part that it measures. */
  readonly part: number;
  /** Its row: all rows and different ones; for a sum also the value of both. */
  readonly sql: string;
}

/** Statements that measure the flagged aggregates of the outermost SELECT. */
export function measurementsOf(sql: string, dialect: Dialect, { parts }: Verdict): Measurement[] {
  const split = splitSelect(sql);
  if (!split) return [];
  return parts.flatMap(({ kind, measurable }, part) => {
    if (kind !== "can_inflate" || !measurable) return [];
    const quote = (name: string): string =>
      dialect === "mysql" ? `\`${name.replaceAll("`", "``")}\`` : `"${name.replaceAll('"', '""')}"`;
    // Aliases are written as the statement writes them; a database that folds their case does the same here.
    const column = (name: string): string => `${measurable.alias}.${quote(name)}`;
    const keys = measurable.key.map((name, at) => `${column(name)} AS tandem_k${at}`);
    const names = keys.map((_, at) => `tandem_k${at}`).join(", ");
    const value = measurable.value === undefined ? "1" : column(measurable.value);
    const rows = `tandem_rows AS (SELECT ${keys.join(", ")}, ${value} AS tandem_v ${split.rows})`;
    const different = `(SELECT DISTINCT ${names}, tandem_v FROM tandem_rows WHERE tandem_k0 IS NOT NULL) AS tandem_d`;
    const text = [
      `${split.named === "" ? "WITH" : `${split.named},`} ${rows}`,
      `SELECT COUNT(*), (SELECT COUNT(*) FROM ${different}), SUM(tandem_v), (SELECT SUM(tandem_v) FROM ${different})`,
      "FROM tandem_rows WHERE tandem_k0 IS NOT NULL",
    ].join("\n");
    return [{ part, sql: text }];
  });
}

/** Adds the measured factor to a part. */
export function withMeasurement(verdict: Verdict, { part }: Measurement, row: readonly unknown[]): Verdict {
  const [all, different, sum, plainSum] = row.map(Number) as [number, number, number, number];
  const parts = verdict.parts.map((one, at): VerdictPart => {
    if (at !== part || !(different > 0)) return one;
    const rows = all / different;
    const factor = one.measurable?.value !== undefined && plainSum !== 0 ? sum / plainSum : rows;
    if (rows <= 1) return { ...one, factor: 1, message: `${one.message} In today's data, no row is repeated.` };
    return {
      ...one,
      kind: "inflated",
      factor,
      message: `${one.message} Its rows are repeated ${rounded(rows)} times on average, and the result is ${rounded(factor)} times too large.`,
    };
  });
  return verdictOf(parts);
}

const rounded = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: 2 });
