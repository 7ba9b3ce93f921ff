import { doubled, escaped, offsetCase, type SqlDialect } from "../sql-dialect.ts";
import type { SqlType } from "../sql.ts";

const TYPES: Record<SqlType, string> = {
  number: "DOUBLE",
  text: "VARCHAR",
  boolean: "BOOLEAN",
  day: "DATE",
  instant: "TIMESTAMP",
};

const formatted = (sql: string, isFine: boolean): string =>
  `strftime(${sql}, '${isFine ? "%Y-%m-%dT%H:%M" : "%Y-%m-%d"}')`;

export const duckdb: SqlDialect = {
  name: "duckdb",
  quote: (identifier) => doubled(identifier, '"'),
  text: (value) => doubled(value, "'"),
  day: (value) => `DATE '${value}'`,
  instant: (value) => `TIMESTAMP '${value}'`,
  nullOf: (type) => (type === "number" ? "NULL" : `CAST(NULL AS ${TYPES[type]})`),
  stored: ({ type, declared }, sql) => {
    // `AT TIME ZONE` needs an extension that may be missing.
    if (type === "instant") {
      return /time zone|timestamptz/i.test(declared) ? `make_timestamp(epoch_us(${sql}))` : `CAST(${sql} AS TIMESTAMP)`;
    }
    return type === "text" && !/^varchar$/i.test(declared) ? `CAST(${sql} AS VARCHAR)` : sql;
  },
  wide: (sql) => `CAST(${sql} AS HUGEINT)`,
  divide: (left, right) => `CAST(${left} AS DOUBLE) / NULLIF(CAST(${right} AS DOUBLE), 0)`,
  exact: (sql) => sql,
  display: (sql) => sql,
  like: (sql, pattern) => `${sql} LIKE ${doubled(escaped(pattern), "'")} ESCAPE '|'`,
  letters: (sql, to) => `${to}(${sql})`,
  round: (sql, digits) => `round(CAST(${sql} AS DOUBLE), ${digits})`,
  length: (sql) => `length(${sql})`,
  fromEpoch: (sql) => `make_timestamp(CAST(floor(${sql}) AS BIGINT) * 1000000)`,
  average: (sql) => `AVG(${sql})`,
  median: (sql) => `median(${sql})`,
  local: (sql, zone) => `(${sql} + to_seconds(${offsetCase(sql, zone, (utc) => `TIMESTAMP '${utc}'`)}))`,
  bucket: (sql, unit) =>
    formatted(`date_trunc('${unit}', CAST(${sql} AS TIMESTAMP))`, unit === "minute" || unit === "hour"),
  shift: (bucket, unit, by) => {
    const [count, name] = unit === "quarter" ? [by * 3, "month"] : unit === "week" ? [by * 7, "day"] : [by, unit];
    const isFine = unit === "minute" || unit === "hour";
    return formatted(`CAST(${bucket} AS TIMESTAMP) + INTERVAL '${count} ${name}'`, isFine);
  },
  part: (part, sql) => `extract(${part === "weekday" ? "isodow" : part} FROM ${sql})`,
};
