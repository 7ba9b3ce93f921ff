import type { Dialect } from "@tandem/connectors";

/** Fragments of hand-written SQL that databases spell differently. It shares nothing with the planner. */
export interface Gold {
  readonly dialect: Dialect;
  readonly day: (sql: string) => string;
  readonly week: (sql: string) => string;
  readonly month: (sql: string) => string;
  readonly quarter: (sql: string) => string;
  readonly year: (sql: string) => string;
  readonly hour: (sql: string) => string;
  /** Decimal, and NULL if the divisor is zero. */
  readonly div: (a: string, b: string) => string;
  readonly text: (sql: string) => string;
}

export function goldOf(dialect: Dialect): Gold {
  const shared = {
    dialect,
    div: (a: string, b: string): string => `(1e0 * (${a}) / nullif((${b}) * 1e0, 0))`,
  };
  const month = (
    text: (format: string, sql: string) => string,
    formats: readonly [string, string, string, string],
  ) => ({
    day: (sql: string) => text(formats[0], sql),
    month: (sql: string) => text(formats[1], sql),
    year: (sql: string) => text(formats[2], sql),
    hour: (sql: string) => text(formats[3], sql),
    quarter: (sql: string) =>
      `case when ${text(formats[1], sql)} is null then null else ${concat(dialect, [
        text(dialect === "postgres" ? "YYYY" : "%Y", sql),
        `case when ${monthOf(dialect, sql)} <= 3 then '-01-01' when ${monthOf(dialect, sql)} <= 6 then '-04-01' when ${monthOf(dialect, sql)} <= 9 then '-07-01' else '-10-01' end`,
      ])} end`,
  });
  const usual = ["%Y-%m-%d", "%Y-%m-01", "%Y-01-01", "%Y-%m-%dT%H:00"] as const;
  switch (dialect) {
    case "sqlite":
      return {
        ...shared,
        ...month((format, sql) => `strftime('${format}', ${sql})`, usual),
        week: (sql) => `date(${sql}, '-' || ((cast(strftime('%w', ${sql}) as integer) + 6) % 7) || ' days')`,
        text: (sql) => `cast(${sql} as text)`,
      };
    case "duckdb":
      return {
        ...shared,
        ...month((format, sql) => `strftime(cast(${sql} as timestamp), '${format}')`, usual),
        week: (sql) => `strftime(cast(${sql} as date) - (isodow(cast(${sql} as date)) - 1)::integer, '%Y-%m-%d')`,
        text: (sql) => `cast(${sql} as varchar)`,
      };
    case "postgres":
      return {
        ...shared,
        ...month(
          (format, sql) => `to_char(${sql}, '${format}')`,
          ["YYYY-MM-DD", "YYYY-MM-01", "YYYY-01-01", 'YYYY-MM-DD"T"HH24:00'],
        ),
        week: (sql) => `to_char(cast(${sql} as date) - (extract(isodow from ${sql}) - 1)::integer, 'YYYY-MM-DD')`,
        text: (sql) => `cast(${sql} as text)`,
      };
    case "mysql":
      return {
        ...shared,
        ...month((format, sql) => `date_format(${sql}, '${format}')`, usual),
        week: (sql) => `date_format(subdate(${sql}, weekday(${sql})), '%Y-%m-%d')`,
        text: (sql) => `cast(${sql} as char)`,
      };
  }
}

const concat = (dialect: Dialect, parts: readonly string[]): string =>
  dialect === "mysql" ? `concat(${parts.join(", ")})` : parts.join(" || ");

const monthOf = (dialect: Dialect, sql: string): string =>
  dialect === "sqlite" ? `cast(strftime('%m', ${sql}) as integer)` : `extract(month from ${sql})`;
