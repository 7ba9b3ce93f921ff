import { doubled, escaped, type SqlDialect } from "../sql-dialect.ts";
import type { SqlType } from "../sql.ts";

const TYPES: Record<SqlType, string> = {
  number: "numeric",
  text: "text",
  boolean: "boolean",
  day: "date",
  instant: "timestamp",
};

export const postgres: SqlDialect = {
  name: "postgres",
  quote: (identifier) => doubled(identifier, '"'),
  // With E, a backslash means the same whatever `standard_conforming_strings` is.
  text: (value) => (value.includes("\\") ? `E${doubled(value.replaceAll("\\", "\\\\"), "'")}` : doubled(value, "'")),
  day: (value) => `DATE '${value}'`,
  instant: (value) => `TIMESTAMP '${value}'`,
  nullOf: (type) => `CAST(NULL AS ${TYPES[type]})`,
  stored: ({ type, declared }, sql) => {
    if (type === "instant") return /with time zone|timestamptz/i.test(declared) ? `(${sql} AT TIME ZONE 'UTC')` : sql;
    // Enumerations, padded and case-insensitive text have operators of their own.
    if (type === "text") return /^(text|character varying|varchar)/i.test(declared) ? sql : `CAST(${sql} AS text)`;
    return /^money/i.test(declared) ? `CAST(${sql} AS numeric)` : sql;
  },
  wide: (sql) => `CAST(${sql} AS numeric)`,
  divide: (left, right) => `CAST(${left} AS numeric) / NULLIF(CAST(${right} AS numeric), 0)`,
  exact: (sql) => `(${sql}) COLLATE "C"`,
  display: (sql) => sql,
  // The default escape character is a backslash; an empty one disables it.
  like: (sql, pattern) => `${sql} LIKE ${postgres.text(escaped(pattern))} ESCAPE '|'`,
  letters: (sql, to) => `${to}(${sql})`,
  round: (sql, digits) => `round(CAST(${sql} AS numeric), ${digits})`,
  length: (sql) => `length(${sql})`,
  fromEpoch: (sql) => `(to_timestamp(${sql}) AT TIME ZONE 'UTC')`,
  average: (sql) => `AVG(${sql})`,
  median: (sql) => `percentile_cont(0.5) WITHIN GROUP (ORDER BY ${sql})`,
  local: (sql, zone) => `(${sql} AT TIME ZONE 'UTC' AT TIME ZONE ${postgres.text(zone.name)})`,
  bucket: (sql, unit) => {
    const format = unit === "minute" || unit === "hour" ? `YYYY-MM-DD"T"HH24:MI` : "YYYY-MM-DD";
    return `to_char(date_trunc('${unit}', CAST(${sql} AS timestamp)), '${format}')`;
  },
  shift: (bucket, unit, by) => {
    const [count, name] = unit === "quarter" ? [by * 3, "month"] : [by, unit];
    const format = unit === "minute" || unit === "hour" ? `YYYY-MM-DD"T"HH24:MI` : "YYYY-MM-DD";
    return `to_char(CAST(${bucket} AS timestamp) + INTERVAL '${count} ${name}', '${format}')`;
  },
  part: (part, sql) => `CAST(extract(${part === "weekday" ? "isodow" : part} FROM ${sql}) AS integer)`,
};
