import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { checkWorld } from "./testing/scenarios/check-world.ts";
import { prepare, type World } from "./testing/scenarios/scenario.ts";
import { TRANSFORMS } from "./testing/scenarios/transform-world.ts";
import { WORLDS } from "./testing/scenarios/worlds.ts";

async function problemsOf(world: World): Promise<string[]> {
  using database = new DatabaseSync(":memory:");
  for (const statement of prepare(world, "sqlite", "main").setup) database.exec(statement);
  return await checkWorld(world, "sqlite", "main", async (sql) => {
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
    return statement.all() as unknown as unknown[][];
  });
}

test.each(WORLDS)("$name: scenarios give the rows of hand-written SQL", async (world) => {
  expect(await problemsOf(world)).toEqual([]);
});

describe.each(Object.entries(TRANSFORMS))("%s change no answer", (_, transform) => {
  test.each(WORLDS)("$name", async (world) => {
    expect(await problemsOf(transform(world))).toEqual([]);
  });
});
