import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { expect, test } from "vitest";
import { MovableClock } from "../host/movable-clock.ts";
import { prunePackages } from "./environment-packages.ts";
import { noteUse, serverHomes } from "./sandbox-folder.ts";

const DAY = 24 * 60 * 60 * 1_000;

test("the home of a server is deleted a month after its last use, by the clock of the engine", async () => {
  const state = await scratchFolder();
  const homes = serverHomes(state);
  for (const name of ["used", "unused"]) await mkdir(join(homes, name), { recursive: true });
  const clock = new MovableClock();
  clock.advance(60 * DAY);
  await noteUse(join(homes, "used"), clock);
  await prunePackages(state, clock.now());
  expect(await readdir(homes)).toEqual(["used"]);
  clock.advance(31 * DAY);
  await prunePackages(state, clock.now());
  expect(await readdir(homes)).toEqual([]);
});
