import { type DatePart, doubled, escaped, offsetCase, type SqlDialect } from "../sql-dialect.ts";

const FORMATS: Record<"minute" | "hour" | "day" | "month" | "year", string> = {
  minute: "%Y-%m-%dT%H:%i",
  hour: "%Y-%m-%dT%H:00",
  day: "%Y-%m-%d",
  month: "%Y-%m-01",
  year: "%Y-01-01",
};

/** MySQL and MariaDB. The session's time zone is UTC. */
export const mysql: SqlDialect = {
  name: "mysql",
  quote: (identifier) => doubled(identifier, "`"),
  // Whether a backslash escapes depends on the session, so such text is written in hexadecimal.
  text: (value) =>
    value.includes("\\") ? `CONVERT(X'${Buffer.from(value).toString("hex")}' USING utf8mb4)` : doubled(value, "'"),
  day: (value) => `DATE '${value}'`,
  instant: (value) => `TIMESTAMP '${value}'`,
  nullOf: () => "NULL",
  stored: ({ type }, sql) => (type === "text" ? `CONVERT(${sql} USING utf8mb4)` : sql),
  wide: (sql) => sql,
  // A division of integers would keep four decimals.
  divide: (left, right) => `${left} / NULLIF(CAST(${right} AS DOUBLE), 0)`,
  // Most collations ignore case and trailing spaces, and their names differ between MySQL and MariaDB.
  exact: (sql) => `CAST(${sql} AS BINARY)`,
  display: (sql) => `CONVERT(${sql} USING utf8mb4)`,
  like: (sql, pattern) => `CAST(${sql} AS BINARY) LIKE ${mysql.text(escaped(pattern))} ESCAPE '|'`,
  letters: (sql, to) => `${to}(${sql})`,
  round: (sql, digits) => `round(${sql}, ${digits})`,
  length: (sql) => `char_length(${sql})`,
  fromEpoch: (sql) => `TIMESTAMPADD(SECOND, ${sql}, TIMESTAMP '1970-01-01 00:00:00')`,
  // The average of integers would have four decimals.
  average: (sql) => `AVG(CAST(${sql} AS DOUBLE))`,
  median: () => undefined,
  local: (sql, zone) => `DATE_ADD(${sql}, INTERVAL (${offsetCase(sql, zone, mysql.instant)}) SECOND)`,
  bucket: (sql, unit) => {
    if (unit === "week") return `DATE_FORMAT(DATE_SUB(${sql}, INTERVAL WEEKDAY(${sql}) DAY), '%Y-%m-%d')`;
    if (unit === "quarter") return `CONCAT(DATE_FORMAT(${sql}, '%Y-'), LPAD(QUARTER(${sql}) * 3 - 2, 2, '0'), '-01')`;
    return `DATE_FORMAT(${sql}, '${FORMATS[unit]}')`;
  },
  shift: (bucket, unit, by) => {
    const format = unit === "minute" || unit === "hour" ? FORMATS.minute : FORMATS.day;
    return `DATE_FORMAT(DATE_ADD(CAST(${bucket} AS DATETIME), INTERVAL ${by} ${unit.toUpperCase()}), '${format}')`;
  },
  part: (part: DatePart, sql) => (part === "weekday" ? `(WEEKDAY(${sql}) + 1)` : `${part.toUpperCase()}(${sql})`),
};
