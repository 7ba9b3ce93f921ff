import type { Dialect } from "@tandem/connectors";
import { metricQuery } from "@tandem/protocol";
import { compileQuery } from "../../compile-query.ts";
import { attempt, MetricError } from "../../metric-error.ts";
import { buildModel } from "../../build/build-model.ts";
import type { Model } from "../../model/model.ts";
import { plainRow, sameOrder, sameRows } from "./same-rows.ts";
import { expected, NOW, prepare, type World } from "./scenario.ts";

type Run = (sql: string) => Promise<readonly (readonly unknown[])[]>;

/** Runs all scenarios of a world, and returns a sentence for each that differs from its hand-written SQL. */
export function checkWorld(world: World, dialect: Dialect, schema: string, run: Run): Promise<string[]> {
  const { tables, files } = prepare(world, dialect, schema);
  return checkModelOf(world, buildModel({ dialect, files, tables }), schema, run);
}

/** The same for a model that comes from elsewhere. */
export async function checkModelOf(
  world: Pick<World, "name" | "scenarios">,
  model: Model,
  schema: string,
  run: Run,
): Promise<string[]> {
  const { dialect } = model;
  const problems = model.broken.map(({ entity, name, message }) => `${world.name}: ${entity} ${name}: ${message}`);
  for (const scenario of world.scenarios) {
    const say = (what: string): void => void problems.push(`${world.name}, ${scenario.title}: ${what}`);
    const query = metricQuery.parse(scenario.query);
    const compiled = attempt(() => compileQuery(model, query, NOW));
    if (compiled instanceof MetricError) {
      if (!("refused" in scenario)) say(`refused: ${compiled.message}`);
      else if (compiled.code !== scenario.refused) say(`refused as ${compiled.code}`);
      continue;
    }
    const { sql } = compiled;
    if ("refused" in scenario) {
      say("not refused");
      continue;
    }
    const failed = (error: unknown): null => {
      say(`${String(error)}\n${sql}`);
      return null;
    };
    const rows = await run(sql).catch(failed);
    const wanted = expected(scenario, dialect, schema);
    const truth = "rows" in wanted ? wanted.rows : await run(wanted.sql).catch(failed);
    if (!rows || !truth) continue;
    const isSame = query.order.length > 0 ? sameOrder(rows, truth) : sameRows(rows, truth);
    if (!isSame) say(`${textOf(rows)} instead of ${textOf(truth)}`);
  }
  return problems;
}

const textOf = (rows: readonly (readonly unknown[])[]): string => JSON.stringify(rows.map(plainRow));
