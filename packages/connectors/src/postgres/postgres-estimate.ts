import { z } from "zod";
import type { QueryEstimate } from "../connection.ts";

interface Plan {
  "Node Type": string;
  Schema?: string;
  "Relation Name"?: string;
  "Plan Rows": number;
  "Plan Width": number;
  "Total Cost": number;
  Plans?: Plan[];
}

const planSchema: z.ZodType<Plan> = z.lazy(() =>
  z.object({
    "Node Type": z.string(),
    Schema: z.string().optional(),
    "Relation Name": z.string().optional(),
    "Plan Rows": z.number(),
    "Plan Width": z.number(),
    "Total Cost": z.number(),
    Plans: z.array(planSchema).optional(),
  }),
);

type Ask = (sql: string, values?: readonly unknown[]) => Promise<(string | null)[][]>;

/** Expected reads: the whole table for a sequential scan, otherwise the planner's row estimate. */
export async function estimateQuery(ask: Ask, sql: string, values: readonly unknown[]): Promise<QueryEstimate> {
  const [[text]] = (await ask(`explain (verbose, format json) ${sql}`, values)) as [[string]];
  const [{ Plan: plan }] = z.tuple([z.object({ Plan: planSchema })]).parse(JSON.parse(text));
  const leaves = [...nodes(plan)].filter((node) => node["Relation Name"] !== undefined);
  const sizes = await readSizes(ask, leaves);
  const read = leaves.map((node) => {
    const whole = node["Node Type"].endsWith("Seq Scan") ? sizes.get(nameOf(node)) : undefined;
    return whole ?? { rows: node["Plan Rows"], bytes: node["Plan Rows"] * node["Plan Width"] };
  });
  return {
    rows: read.reduce((sum, { rows }) => sum + rows, 0),
    bytes: read.reduce((sum, { bytes }) => sum + bytes, 0),
    plan: describe(plan, 0),
  };
}

async function readSizes(ask: Ask, leaves: readonly Plan[]): Promise<Map<string, { rows: number; bytes: number }>> {
  const rows = await ask(
    `select n.nspname || '.' || c.relname, greatest(c.reltuples, 0)::bigint,
       c.relpages::bigint * current_setting('block_size')::bigint
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname || '.' || c.relname = any ($1) and c.reltuples >= 0`,
    [leaves.map(nameOf)],
  );
  return new Map(rows.map(([name, count, bytes]) => [name!, { rows: Number(count), bytes: Number(bytes) }]));
}

const nameOf = (node: Plan): string => `${node.Schema}.${node["Relation Name"]}`;

function* nodes(plan: Plan): Iterable<Plan> {
  yield plan;
  for (const child of plan.Plans ?? []) yield* nodes(child);
}

function describe(plan: Plan, depth: number): string {
  const relation = plan["Relation Name"] === undefined ? "" : ` on ${nameOf(plan)}`;
  const line = `${"  ".repeat(depth)}${plan["Node Type"]}${relation} (rows ${plan["Plan Rows"]}, cost ${plan["Total Cost"]})`;
  return [line, ...(plan.Plans ?? []).map((child) => describe(child, depth + 1))].join("\n");
}
