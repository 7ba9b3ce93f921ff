import { aggregateCalls } from "../tree/aggregate-calls.ts";
import type { ReadOutput } from "./read-output.ts";
import { kindOf, listOf, type SqlNode } from "../tree/sql-node.ts";

/** How a SELECT combines its rows. */
export interface Grouping {
  /** Undefined: it does not group. */
  readonly expressions?: readonly unknown[];
  /** ROLLUP and the like add rows that contain others. */
  readonly hasSubtotals: boolean;
  readonly isDistinct: boolean;
  readonly usesPositions: boolean;
}

export function groupingOf(select: SqlNode, outputs: readonly ReadOutput[]): Grouping {
  const clause = kindOf({ group: select["group_by"] }).body;
  const written = listOf(clause["expressions"]);
  const isAll = clause["all"] === true && written.length === 0;
  const all = outputs.filter(({ node }) => aggregateCalls(node).length === 0).map(({ node }) => node);
  const expressions = isAll ? all : written;
  return {
    ...((expressions.length > 0 || isAll) && { expressions }),
    hasSubtotals: written.some(isSubtotal),
    isDistinct: select["distinct"] === true,
    usesPositions: written.some((expression) => kindOf(expression).kind === "literal"),
  };
}

function isSubtotal(expression: unknown): boolean {
  const { kind, body } = kindOf(expression);
  return (
    ["rollup", "cube", "grouping_sets", "totals"].includes(kind) ||
    (kind === "function" && /^(rollup|cube|grouping sets)$/i.test(String(body["name"])))
  );
}
