import { childrenOf, kindOf, nameOf } from "./sql-node.ts";

/** One aggregate of a SELECT, or a window function over its rows. */
export interface AggregateCall {
  readonly name: string;
  readonly isDistinct: boolean;
  /** The tree of its operands, including a FILTER. */
  readonly operands: unknown;
  readonly isWindow: boolean;
}

/** Rows that appear twice change nothing. */
const IMMUNE = new Set(
  `min max any_value first last arg_min arg_max argmin argmax min_by max_by bool_and bool_or every bit_and bit_or
  approx_count_distinct approx_distinct logical_and logical_or`.split(/\s+/),
);

const AGGREGATES = new Set(
  `sum count avg average total median mode stddev stddev_pop stddev_samp variance var_pop var_samp string_agg group_concat
  listagg array_agg list json_agg jsonb_agg json_object_agg jsonb_object_agg json_group_array json_group_object json_arrayagg
  json_objectagg xmlagg percentile_cont percentile_disc quantile quantile_cont quantile_disc approx_quantile corr covar_pop
  covar_samp regr_slope regr_intercept regr_r2 regr_count regr_avgx regr_avgy regr_sxx regr_syy regr_sxy product geomean
  geometric_mean fsum favg sumkahan kahan_sum countif count_if sum_if sumif sum_no_overflow histogram entropy kurtosis
  skewness mad bitstring_agg bit_xor std stddev_population array_concat_agg map_agg variance_pop`.split(/\s+/),
);

const NOT_INSIDE = new Set(["subquery", "select", "exists", "union", "intersect", "except"]);

export const isImmune = ({ name, isDistinct }: AggregateCall): boolean =>
  IMMUNE.has(name) || (isDistinct && name === "count");

/** Aggregates within expressions, without those of subqueries. */
export function aggregateCalls(node: unknown, isInWindow = false): AggregateCall[] {
  const { kind, body } = kindOf(node);
  if (NOT_INSIDE.has(kind)) return [];
  if (kind === "window_function") {
    const inner = aggregateCalls(body["this"], true);
    // A window over a grouped query sums its groups, whose own aggregates are judged.
    const nested = inner.flatMap(({ operands }) => aggregateCalls(operands));
    const rest = childrenOf(body["over"]).flatMap((child) => aggregateCalls(child));
    return [...(nested.length > 0 ? nested : inner), ...rest];
  }
  const name = callName(kind, body);
  if (name !== undefined && (AGGREGATES.has(name) || IMMUNE.has(name))) {
    return [{ name, isDistinct: body["distinct"] === true, operands: operandsOf(body), isWindow: isInWindow }];
  }
  if (kind === "" && Array.isArray(node)) return node.flatMap((child) => aggregateCalls(child));
  return childrenOf(kind === "" ? node : body).flatMap((child) => aggregateCalls(child));
}

function callName(kind: string, body: Readonly<Record<string, unknown>>): string | undefined {
  if (kind === "function" || kind === "aggregate_function" || kind === "anonymous") {
    const name = body["name"] ?? body["this"];
    return (typeof name === "string" ? name : nameOf(name))?.toLowerCase();
  }
  return kind.toLowerCase();
}

function operandsOf(body: Readonly<Record<string, unknown>>): unknown[] {
  return Object.entries(body).flatMap(([key, value]) =>
    key === "over" || typeof value !== "object" || value === null ? [] : [value],
  );
}
