import { DatabaseSync } from "node:sqlite";
import { expect, inject, test } from "vitest";
import { compileQuery } from "./compile-query.ts";
import { attempt, MetricError } from "./metric-error.ts";
import { buildModel } from "./build/build-model.ts";
import { differences } from "./testing/differences.ts";
import { oracle } from "./testing/oracle.ts";
import { catalogued, randomCase } from "./testing/random-case.ts";
import { NOW } from "./testing/scenarios/scenario.ts";

const COUNT = inject("soak") ? 10_000 : 100;

test("random queries give the numbers that a walk over the rows gives", () => {
  let answerable = 0;
  let wronglyRefused = 0;
  for (let seed = 1; seed <= COUNT; seed += 1) {
    const given = randomCase(seed);
    const { tables, files, setup } = catalogued(given, "sqlite", "main");
    const model = buildModel({ dialect: "sqlite", files, tables });
    expect(model.broken, `seed ${seed}`).toEqual([]);
    const truth = oracle(given);
    if (truth) answerable += 1;
    const compiled = attempt(() => compileQuery(model, given.query, NOW));
    if (compiled instanceof MetricError) {
      if (truth) wronglyRefused += 1;
      continue;
    }
    const { sql } = compiled;
    const database = new DatabaseSync(":memory:");
    for (const statement of setup) database.exec(statement);
    const query = database.prepare(sql);
    query.setReturnArrays(true);
    const rows = query.all() as unknown as (string | number | null)[][];
    database.close();
    expect(
      truth,
      `seed ${seed} was answered, and has no safe answer: ${JSON.stringify(given.query)}\n${sql}`,
    ).toBeDefined();
    expect(
      differences(rows, truth!, given.query.by.length),
      `seed ${seed}: ${JSON.stringify(given.query)}\n${sql}`,
    ).toEqual([]);
  }
  expect(wronglyRefused / answerable).toBeLessThanOrEqual(0.05);
});
