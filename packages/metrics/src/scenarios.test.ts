import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { checkWorld } from "./testing/scenarios/check-world.ts";
import { prepare } from "./testing/scenarios/scenario.ts";
import { WORLDS } from "./testing/scenarios/worlds.ts";

test.each(WORLDS)("$name: scenarios give the rows of hand-written SQL", async (world) => {
  using database = new DatabaseSync(":memory:");
  for (const statement of prepare(world, "sqlite", "main").setup) database.exec(statement);
  const run = async (sql: string): Promise<unknown[][]> => {
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    return statement.all() as unknown as unknown[][];
  };
  expect(await checkWorld(world, "sqlite", "main", run)).toEqual([]);
});
