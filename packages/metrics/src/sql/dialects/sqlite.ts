import type { DatePart, SqlDialect } from "../sql-dialect.ts";
import { doubled, offsetCase } from "../sql-dialect.ts";
import { changedLetters } from "./sqlite-letters.ts";

const PARTS: Record<Exclude<DatePart, "quarter" | "weekday">, string> = {
  year: "%Y",
  month: "%m",
  day: "%d",
  hour: "%H",
};
const part = (format: string, sql: string): string => `CAST(strftime('${format}', ${sql}) AS INTEGER)`;

/**
 * A column that is not text can also hold numbers: days of the Julian calendar, or seconds or milliseconds since 1970.
 * `auto` takes the latter two for NULL, and the former for days of another millennium.
 */
const momentOf = (sql: string): string =>
  `CASE WHEN typeof(${sql}) <> 'integer' OR ${sql} BETWEEN 1721426 AND 5373484 THEN ${sql} ` +
  `WHEN abs(${sql}) < 100000000000 THEN datetime(${sql}, 'unixepoch') ELSE datetime(${sql} / 1000, 'unixepoch') END`;

/** SQLite has no type for days and times: they are ISO text, and `datetime` and `date` give one form of them. */
export const sqlite: SqlDialect = {
  name: "sqlite",
  quote: (identifier) => doubled(identifier, '"'),
  text: (value) => doubled(value, "'"),
  day: (value) => `'${value}'`,
  instant: (value) => `'${value}'`,
  nullOf: () => "NULL",
  stored: ({ type, declared }, sql) => {
    if (type !== "instant" && type !== "day") return sql;
    const read = type === "instant" ? "datetime" : "date";
    return /char|clob|text/i.test(declared) ? `${read}(${sql})` : `${read}(${momentOf(sql)}, 'auto')`;
  },
  wide: (sql) => sql,
  divide: (left, right) => `CAST(${left} AS REAL) / NULLIF(${right}, 0)`,
  exact: (sql) => `${sql} COLLATE BINARY`,
  display: (sql) => sql,
  // LIKE ignores case in SQLite; GLOB does not.
  like: (sql, pattern) => {
    const parts = pattern.map((part) =>
      part === "any" ? "*" : part === "one" ? "?" : part.text.replaceAll(/[*?[]/g, "[$&]"),
    );
    return `${sql} GLOB ${doubled(parts.join(""), "'")}`;
  },
  letters: (sql, to) => changedLetters(sql, to),
  // SQLite takes a negative number of digits for zero.
  round: (sql, digits) => {
    const tens = /^\(-(\d+)\)$/.exec(digits)?.[1];
    return tens === undefined ? `round(${sql}, ${digits})` : `(round(${sql} / 1e${tens}) * 1e${tens})`;
  },
  length: (sql) => `length(${sql})`,
  fromEpoch: (sql) => `datetime(${sql}, 'unixepoch')`,
  average: (sql) => `AVG(${sql})`,
  median: () => undefined,
  local: (sql, zone) => `datetime(${sql}, (${offsetCase(sql, zone, (utc) => `'${utc}'`)}) || ' seconds')`,
  bucket: (sql, unit) => {
    switch (unit) {
      case "minute":
        return `strftime('%Y-%m-%dT%H:%M', ${sql})`;
      case "hour":
        return `strftime('%Y-%m-%dT%H:00', ${sql})`;
      case "day":
        return `date(${sql})`;
      case "week":
        return `date(${sql}, 'weekday 0', '-6 days')`;
      case "month":
        return `strftime('%Y-%m-01', ${sql})`;
      case "quarter":
        return `strftime('%Y-', ${sql}) || substr('01040710', (${part("%m", sql)} - 1) / 3 * 2 + 1, 2) || '-01'`;
      case "year":
        return `strftime('%Y-01-01', ${sql})`;
    }
  },
  shift: (bucket, unit, by) => {
    const [count, name] =
      unit === "quarter" ? [by * 3, "months"] : unit === "week" ? [by * 7, "days"] : [by, `${unit}s`];
    // A day that the other month does not have becomes its last one, not a day of the next month.
    const floor = name === "months" || name === "years" ? ", 'floor'" : "";
    const moved = `${bucket}, '${count >= 0 ? "+" : ""}${count} ${name}'${floor}`;
    return unit === "minute" || unit === "hour" ? `strftime('%Y-%m-%dT%H:%M', ${moved})` : `date(${moved})`;
  },
  part: (name, sql) => {
    if (name === "quarter") return `((${part("%m", sql)} + 2) / 3)`;
    if (name === "weekday") return `((${part("%w", sql)} + 6) % 7 + 1)`;
    return part(PARTS[name], sql);
  },
};
