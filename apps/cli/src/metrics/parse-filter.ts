import { METRIC_RANGES, type MetricFilter, nearest, TandemError } from "@tandem/protocol";

const FIELD = /^\s*([a-z_][\w]*(?:\.[a-z_][\w]*)*)\s*/i;
const MOMENT = /^\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?)?$/;
const UNITS = ["day", "week", "month", "quarter", "year"] as const;

/**
 * Reads a filter of the command line: `status = paid`, `channel in web, shop`, `name contains tea`, `segment is null`,
 * `placed: this_year`, `placed: last 3 months`, `placed: 2026-01-01..2026-04-01`. It is never SQL.
 */
export function parseFilter(text: string): MetricFilter {
  const field = FIELD.exec(text);
  if (!field) throw wrong(text);
  const name = field[1]!;
  const rest = text.slice(field[0].length);
  if (rest.startsWith(":")) return { field: name, ...parseRange(rest.slice(1).trim(), text) };
  const compared = /^(<=|>=|<>|!=|=|<|>)(.+)$/s.exec(rest);
  if (compared) {
    const op = compared[1] === "<>" ? "!=" : (compared[1] as "=" | "!=" | "<" | "<=" | ">" | ">=");
    return { field: name, op, value: oneValue(compared[2]!, text) };
  }
  const worded = /^(is null|is not null|not in|in|contains|starts with)\b(.*)$/is.exec(rest);
  if (!worded) throw wrong(text);
  const given = worded[2]!;
  switch (worded[1]!.toLowerCase()) {
    case "is null":
    case "is not null":
      if (given.trim() !== "") throw wrong(text);
      return { field: name, op: /not/i.test(worded[1]!) ? "not_null" : "is_null" };
    case "in":
    case "not in":
      return { field: name, op: /not/i.test(worded[1]!) ? "not_in" : "in", values: splitValues(given, text) };
    default:
      return { field: name, op: /starts/i.test(worded[1]!) ? "starts_with" : "contains", value: oneValue(given, text) };
  }
}

type Range =
  | Pick<Extract<MetricFilter, { range: unknown }>, "range">
  | { last: Last }
  | { from?: string; until?: string };
type Last = Extract<MetricFilter, { last: unknown }>["last"];

function parseRange(given: string, text: string): Range {
  const name = given.toLowerCase().replaceAll(/\s+/g, "_");
  const named = METRIC_RANGES.find((range) => range === name);
  if (named) return { range: named };
  const last = /^last_([1-9]\d{0,2}|1000)_(day|week|month|quarter|year)s?$/.exec(name);
  if (last) return { last: { count: Number(last[1]), unit: UNITS.find((unit) => unit === last[2])! } };
  const bounds = /^(.*?)\s*\.\.\s*(.*)$/.exec(given);
  if (bounds) {
    const [from, until] = [bounds[1]!, bounds[2]!].map((bound) => (bound === "" ? undefined : moment(bound, text)));
    if (from === undefined && until === undefined) throw wrong(text);
    return { ...(from !== undefined && { from }), ...(until !== undefined && { until }) };
  }
  const period = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$/.exec(given);
  if (period) return wholePeriod(period[1]!, period[2], period[3], text);
  const meant = nearest(name, METRIC_RANGES);
  throw wrong(text, meant ? `Did you mean ${meant}? ${RANGES}` : RANGES);
}

/** `2026`, `2026-03` and `2026-03-31` are that whole year, month or day. */
function wholePeriod(year: string, month: string | undefined, day: string | undefined, text: string): Range {
  const start = new Date(`${year}-${month ?? "01"}-${day ?? "01"}T00:00:00Z`);
  const from = `${year}-${month ?? "01"}-${day ?? "01"}`;
  if (Number.isNaN(start.getTime()) || start.toISOString().slice(0, 10) !== from) throw wrong(text, RANGES);
  const end = new Date(start);
  if (day !== undefined) end.setUTCDate(end.getUTCDate() + 1);
  else if (month === undefined) end.setUTCFullYear(end.getUTCFullYear() + 1);
  else end.setUTCMonth(end.getUTCMonth() + 1);
  return { from, until: end.toISOString().slice(0, 10) };
}

function moment(bound: string, text: string): string {
  if (MOMENT.test(bound)) return bound;
  throw wrong(text, "Bounds are days or times: 2026-03-31 or 2026-03-31T14:00. The second one is not included.");
}

function oneValue(given: string, text: string): string {
  const [value, ...more] = splitValues(given, text);
  if (more.length > 0)
    throw wrong(text, "Quote a value with a comma: name = 'Tea, green'. Use `in` for several values.");
  return value!;
}

/** Values between commas; a quoted one may contain commas, and its own quote twice. */
function splitValues(given: string, text: string): string[] {
  const values: string[] = [];
  const item = /\s*(?:'((?:[^']|'')*)'|"((?:[^"]|"")*)"|([^\s,'"][^,]*?))\s*(,|$)/y;
  for (let end = false; !end;) {
    const found = item.exec(given);
    if (!found) throw wrong(text, "Separate values by commas, and quote those with commas or quotes.");
    if (found[3] !== undefined) refuseSql(found[3], text);
    values.push(found[1]?.replaceAll("''", "'") ?? found[2]?.replaceAll('""', '"') ?? found[3]!);
    end = found[4] === "";
  }
  return values;
}

/** SQL in place of a value would be compared as text, and find nothing. In quotes, it is text on purpose. */
function refuseSql(value: string, text: string): void {
  const quoted = `Quote the value if it is meant as text: '${value}'.`;
  if (/^null$/i.test(value)) throw wrong(text, `Write \`is null\` or \`is not null\`. ${quoted}`);
  if (/^[=<>!(]|\)$/.test(value) && !/^[^()]+\([^()]*\)$/.test(value)) {
    throw wrong(text, `Write one operator, and values without parentheses: \`channel in web, shop\`. ${quoted}`);
  }
  if (/\s(and|or)\s+(not\s+)?[a-z_][\w.]*\s*([=<>:]|!=|(not\s+in|in|is|contains|starts\s+with)\s)/i.test(value)) {
    throw wrong(text, `Give each condition its own --where; all of them must hold. ${quoted}`);
  }
}

const RANGES = "Ranges: today, this_month, last_year, last 3 months, 2026, 2026-03, 2026-01-01..2026-04-01.";

const wrong = (text: string, fix?: string): TandemError =>
  new TandemError("usage", `--where ${JSON.stringify(text)} is no filter.`, {
    fix: fix ?? "Write `status = paid`, `channel in web, shop`, `segment is null` or `placed: this_year`.",
  });
