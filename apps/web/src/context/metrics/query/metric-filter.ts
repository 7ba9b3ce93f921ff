import type { MetricField, MetricFilter } from "@tandem/protocol";

type Of<Key extends string> = Extract<MetricFilter, Record<Key, unknown>>;
type Operator = Of<"op">["op"];
type Membership = Of<"values">["op"];
type TextMatch = "contains" | "starts_with";
type Emptiness = "is_null" | "not_null";
type Comparison = Exclude<Operator, Membership | TextMatch | Emptiness>;
type MetricRange = Of<"range">["range"];
type PeriodUnit = Of<"last">["last"]["unit"];
export type FilterValue = Of<"value">["value"];

/** The choices of one list: operators, named ranges, a number of periods, or two dates. */
export type Condition = Comparison | TextMatch | Membership | Emptiness | MetricRange | "last" | "between";

export const CONDITION_LABELS: Readonly<Record<Condition, string>> = {
  in: "is any of",
  not_in: "is none of",
  "=": "is",
  "!=": "is not",
  "<": "is less than",
  "<=": "is at most",
  ">": "is more than",
  ">=": "is at least",
  contains: "contains",
  starts_with: "starts with",
  today: "today",
  yesterday: "yesterday",
  this_week: "this week",
  last_week: "last week",
  this_month: "this month",
  last_month: "last month",
  this_quarter: "this quarter",
  last_quarter: "last quarter",
  this_year: "this year",
  last_year: "last year",
  last: "in the last …",
  between: "between …",
  is_null: "is empty",
  not_null: "is not empty",
};

const COMPARISONS: readonly Comparison[] = ["=", "!=", "<", "<=", ">", ">="];
const MATCHES: readonly TextMatch[] = ["contains", "starts_with"];
const MEMBERSHIPS: readonly Membership[] = ["in", "not_in"];
const EMPTINESS: readonly Emptiness[] = ["is_null", "not_null"];
const RANGES: readonly MetricRange[] = [
  "today",
  "yesterday",
  "this_week",
  "last_week",
  "this_month",
  "last_month",
  "this_quarter",
  "last_quarter",
  "this_year",
  "last_year",
];
export const PERIOD_UNITS: readonly PeriodUnit[] = ["day", "week", "month", "quarter", "year"];

const oneOf =
  <T extends string>(list: readonly T[]) =>
  (name: unknown): name is T =>
    list.some((each) => each === name);
export const isComparison = oneOf(COMPARISONS);
const isMatch = oneOf(MATCHES);
const isMembership = oneOf(MEMBERSHIPS);
const isEmptiness = oneOf(EMPTINESS);
const isRange = oneOf(RANGES);
const isPeriodUnit = oneOf(PERIOD_UNITS);

/** Conditions that a field of this type can have. Those with a list of values come first if the values are known. */
export function conditionsOf({ type, values }: Pick<MetricField, "type" | "values">): readonly Condition[] {
  switch (type) {
    case "text":
      return [...MEMBERSHIPS, ...MATCHES, ...EMPTINESS];
    case "number":
      return [...(values ? MEMBERSHIPS : []), ...COMPARISONS, ...EMPTINESS];
    case "boolean":
      return ["=", ...EMPTINESS];
    case "day":
    case "instant":
      return ["last", ...RANGES, "between", ...EMPTINESS];
  }
}

export function conditionOf(filter: MetricFilter): Condition {
  if ("op" in filter) return filter.op;
  if ("range" in filter) return filter.range;
  return "last" in filter ? "last" : "between";
}

/** The filter with another condition. It keeps the value where that makes sense. */
export function withCondition(filter: MetricFilter, condition: Condition): MetricFilter {
  const { field } = filter;
  const [first] = "values" in filter ? filter.values : "value" in filter ? [filter.value] : [];
  if (isMembership(condition)) {
    const values = "values" in filter ? filter.values : first === undefined || first === "" ? [] : [first];
    return { field, op: condition, values };
  }
  if (isComparison(condition)) return { field, op: condition, value: first ?? "" };
  if (isMatch(condition)) return { field, op: condition, value: first === undefined ? "" : String(first) };
  if (isEmptiness(condition)) return { field, op: condition };
  if (isRange(condition)) return { field, range: condition };
  return condition === "last" ? { field, last: { count: 12, unit: "month" } } : { field };
}

/** The first filter of a field. */
export function newFilter(field: Pick<MetricField, "field" | "type" | "values">): MetricFilter {
  const start: MetricFilter = { field: field.field, op: "not_null" };
  if (field.type === "boolean") return { field: field.field, op: "=", value: true };
  return withCondition(start, conditionsOf(field)[0] ?? "not_null");
}

/** Whether the filter says enough to be sent. */
export function isComplete(filter: MetricFilter): boolean {
  if ("values" in filter) return filter.values.length > 0;
  if ("value" in filter) return filter.value !== "";
  if ("op" in filter || "range" in filter || "last" in filter) return true;
  return filter.from !== undefined || filter.until !== undefined;
}

/** A filter of an address. Undefined if it is none. */
export function readFilter(given: unknown): MetricFilter | undefined {
  if (!isRecord(given)) return undefined;
  const { field, op, value, values, range, last, from, until } = given;
  if (typeof field !== "string" || field === "") return undefined;
  if (isMembership(op)) return { field, op, values: Array.isArray(values) ? values.filter(isValue) : [] };
  if (isComparison(op)) return { field, op, value: isValue(value) ? value : "" };
  if (isMatch(op)) return { field, op, value: isValue(value) ? String(value) : "" };
  if (isEmptiness(op)) return { field, op };
  if (op !== undefined) return undefined;
  if (isRange(range)) return { field, range };
  if (isRecord(last)) {
    const { count, unit } = last;
    if (typeof count !== "number" || !Number.isInteger(count) || !isPeriodUnit(unit)) return undefined;
    return { field, last: { count, unit } };
  }
  return {
    field,
    ...(typeof from === "string" && { from }),
    ...(typeof until === "string" && { until }),
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const isValue = (value: unknown): value is FilterValue => ["string", "number", "boolean"].includes(typeof value);
