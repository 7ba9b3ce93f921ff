import { aggregateKind } from "./aggregate-names.ts";
import { childrenOf, kindOf, nameOf, type SqlNode } from "./sql-node.ts";

/** One aggregate of a SELECT, or a window function over its rows. */
export interface AggregateCall {
  readonly name: string;
  readonly isDistinct: boolean;
  /** Rows that appear twice change nothing. */
  readonly isImmune: boolean;
  /** The trees of the values that it aggregates. */
  readonly values: readonly unknown[];
  /** Those, with a FILTER. */
  readonly operands: readonly unknown[];
  readonly isWindow: boolean;
}

const NOT_INSIDE = new Set(["subquery", "select", "exists", "union", "intersect", "except"]);

/** Aggregates within expressions, without those of subqueries. */
export function aggregateCalls(node: unknown): AggregateCall[] {
  return callsIn(node, { isWindow: false, extra: [] });
}

/** The clause around a call: `WITHIN GROUP (ORDER BY x)` has its value outside of it. */
interface Around {
  readonly isWindow: boolean;
  readonly extra: readonly unknown[];
}

function callsIn(node: unknown, around: Around): AggregateCall[] {
  const { kind, body } = kindOf(node);
  if (NOT_INSIDE.has(kind)) return [];
  if (kind === "window_function") {
    const inner = callsIn(body["this"], { ...around, isWindow: true });
    // A window over a grouped query sums its groups, whose own aggregates are judged.
    const nested = inner.flatMap(({ operands }) => aggregateCalls(operands));
    const rest = childrenOf(body["over"]).flatMap(aggregateCalls);
    return [...(nested.length > 0 ? nested : inner), ...rest];
  }
  if (kind === "within_group") return callsIn(body["this"], { ...around, extra: [body["order_by"]] });
  const name = callName(kind, body);
  const found = name === undefined ? undefined : aggregateKind(name);
  if (name !== undefined && found !== undefined && found !== "scalar") {
    const isDistinct = body["distinct"] === true;
    const values = [...valuesOf(body), ...around.extra];
    return [
      {
        name: displayed(name),
        isDistinct,
        isImmune: found === "immune" || (isDistinct && name === "count"),
        values,
        operands: [...values, ...[body["filter"], body["order_by"]].filter(isTree)],
        isWindow: around.isWindow,
      },
    ];
  }
  return childrenOf(node).flatMap((child) => callsIn(child, { isWindow: false, extra: [] }));
}

const GENERIC = new Set(["function", "aggregate_function", "anonymous", "anonymous_agg_func", "parameterized_agg"]);

/** The name of a function's call; undefined for other nodes. Calls of well-known functions are nodes of their own kind. */
export function callName(kind: string, body: SqlNode): string | undefined {
  if (kind === "method_call") return nameOf(body["method"])?.toLowerCase();
  if (!GENERIC.has(kind)) return kind === "" ? undefined : kind.toLowerCase();
  const name = body["name"] ?? body["this"];
  return (typeof name === "string" ? name : nameOf(name))?.toLowerCase();
}

/** Whether a node is an aggregate whose result is not the value of one row. */
export function isCombining(kind: string, body: SqlNode): boolean {
  const name = callName(kind, body);
  return kind === "within_group" || (name !== undefined && aggregateKind(name) === "aggregate");
}

/** Functions that are not known to work on one row. They could be aggregates. */
export function unknownCalls(node: unknown): string[] {
  const { kind, body } = kindOf(node);
  if (NOT_INSIDE.has(kind)) return [];
  const isCall = GENERIC.has(kind) || kind === "method_call";
  const name = isCall ? callName(kind, body) : undefined;
  const own = name !== undefined && aggregateKind(name) === undefined ? [name] : [];
  return [...own, ...childrenOf(node).flatMap(unknownCalls)];
}

const SEVERAL_ROWS = new Set(
  `unnest explode explode_outer posexplode flatten generate_series generate_subscripts regexp_split_to_table string_to_table
  json_array_elements jsonb_array_elements json_array_elements_text jsonb_array_elements_text json_each jsonb_each json_each_text
  jsonb_each_text json_object_keys jsonb_object_keys json_populate_recordset jsonb_populate_recordset jsonb_path_query xmltable
  j_s_o_n_array_elements j_s_o_n_b_array_elements`.split(/\s+/),
);

/** A function in a list of columns that gives several rows for one, or is not known to give one. */
export function multiplyingCall(node: unknown): string | undefined {
  const { kind, body } = kindOf(node);
  if (NOT_INSIDE.has(kind)) return undefined;
  const name = callName(kind, body);
  // With flags, Postgres returns a row for each match.
  const isMatches = name === "regexp_matches" && (body["args"] as unknown[] | undefined)?.length === 3;
  if (name !== undefined && (SEVERAL_ROWS.has(name) || isMatches)) return name;
  for (const child of childrenOf(node)) {
    const found = multiplyingCall(child);
    if (found !== undefined) return found;
  }
  return unknownCalls(node)[0];
}

const displayed = (name: string): string => name.replaceAll("j_s_o_n", "json").replace(/^bitwise_(\w+)_agg$/, "bit_$1");

const isTree = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !(Array.isArray(value) && value.length === 0);

const NO_VALUES = new Set(["over", "filter", "order_by", "separator", "span"]);

const valuesOf = (body: SqlNode): unknown[] =>
  Object.entries(body).flatMap(([key, value]) => (NO_VALUES.has(key) || !isTree(value) ? [] : [value]));
