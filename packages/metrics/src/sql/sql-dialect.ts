import type { Dialect } from "@tandem/connectors";
import type { Granularity } from "./granularity.ts";
import type { LikePattern, Sql, SqlType } from "./sql.ts";
import type { ZoneOffsets } from "./zone-offsets.ts";

type StoredColumn = Extract<Sql, { op: "column" }>;
export type DatePart = "year" | "quarter" | "month" | "day" | "hour" | "weekday";

/**
 * The differences between databases. Operands are SQL text of this dialect. All dialects give equal results: periods are
 * ISO text, text is compared by its characters, a division has decimals, and a division by zero is NULL.
 */
export interface SqlDialect {
  readonly name: Dialect;
  readonly quote: (identifier: string) => string;
  readonly text: (value: string) => string;
  readonly day: (value: string) => string;
  readonly instant: (value: string) => string;
  /** NULL of a type, for the branches of a UNION. */
  readonly nullOf: (type: SqlType) => string;
  /** Converts a stored column to its type: text, a number, a day, or a time in UTC without a zone. */
  readonly stored: (column: StoredColumn, sql: string) => string;
  /** An integer that does not overflow in arithmetic. */
  readonly wide: (sql: string) => string;
  readonly divide: (left: string, right: string) => string;
  /** For comparing, grouping and sorting by characters. */
  readonly exact: (sql: string) => string;
  /** Converts the result of `exact` to text for the result. */
  readonly display: (sql: string) => string;
  /** Case-sensitive; `%` and `_` are wildcards, and there is no escape character. */
  readonly like: (sql: string, pattern: LikePattern) => string;
  /** In all scripts, letter by letter. */
  readonly letters: (sql: string, to: "lower" | "upper") => string;
  readonly round: (sql: string, digits: string) => string;
  readonly length: (sql: string) => string;
  readonly fromEpoch: (sql: string) => string;
  readonly average: (sql: string) => string;
  /** Undefined if the database has no median. */
  readonly median: (sql: string) => string | undefined;
  /** UTC to the zone's local time. */
  readonly local: (sql: string, zone: ZoneOffsets) => string;
  /** `sql` is a day or a time without a zone. The result is `2026-03-01`, or `2026-03-01T14:00` below days. */
  readonly bucket: (sql: string, unit: Granularity, isDay: boolean) => string;
  readonly shift: (bucket: string, unit: Granularity, by: number) => string;
  readonly part: (part: DatePart, sql: string) => string;
}

/** Offset of a time in seconds, as CASE. */
export function offsetCase(sql: string, zone: ZoneOffsets, literal: (utc: string) => string): string {
  const { changes, last } = zone;
  if (changes.length === 0) return String(last);
  const branches = changes.map(({ before, seconds }) => `WHEN ${sql} < ${literal(before)} THEN ${seconds}`);
  return `CASE ${branches.join(" ")} ELSE ${last} END`;
}

/** A pattern for LIKE … ESCAPE '|'. */
export const escaped = (pattern: LikePattern): string =>
  pattern.map((part) => (part === "any" ? "%" : part === "one" ? "_" : part.text.replaceAll(/[|%_]/g, "|$&"))).join("");

export const doubled = (text: string, quote: string): string =>
  `${quote}${text.replaceAll(quote, quote + quote)}${quote}`;
