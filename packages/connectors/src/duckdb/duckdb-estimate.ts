import type { QueryEstimate } from "../connection.ts";

interface Step {
  name: string;
  children: Step[];
  extra_info: Record<string, string | undefined>;
}

/** Expected reads from tables, from DuckDB's plan. */
export function readEstimate(json: string): QueryEstimate {
  const steps = JSON.parse(json) as Step[];
  const counts = [...flatten(steps)]
    .filter(({ extra_info }) => extra_info["Table"] !== undefined)
    .map(({ extra_info }) => Number(extra_info["Estimated Cardinality"] ?? 0));
  return { rows: counts.reduce((sum, count) => sum + count, 0), plan: describe(steps, 0) };
}

function* flatten(steps: readonly Step[]): Iterable<Step> {
  for (const step of steps) {
    yield step;
    yield* flatten(step.children);
  }
}

function describe(steps: readonly Step[], depth: number): string {
  return steps
    .map(({ name, children, extra_info }) => {
      const table = extra_info["Table"] === undefined ? "" : ` on ${extra_info["Table"]}`;
      const rows = extra_info["Estimated Cardinality"];
      const line = `${"  ".repeat(depth)}${name}${table}${rows === undefined ? "" : ` (rows ${rows})`}`;
      return children.length === 0 ? line : `${line}\n${describe(children, depth + 1)}`;
    })
    .join("\n");
}
