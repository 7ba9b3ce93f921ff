import { openStore } from "@tandem/storage";
import { startPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { expect, test } from "vitest";
import { DeploymentRecords } from "./deployment-records.ts";
import { deploymentOf, runProcess, StillClock, type World } from "./testing/killed-scheduler.ts";

const why = whyNoPostgres();

test.skipIf(why)(`processes on one Postgres database start each run once${why ? ` (${why})` : ""}`, async () => {
  await using postgres = await startPostgres();
  const location = await postgres.createDatabase();
  await using first = await openStore(location);
  await using second = await openStore(location);
  const shared = { clock: new StillClock("2026-03-02T08:59:30Z"), sessions: new Map<string, number>() };
  const worlds: World[] = [first, second, second].map(({ records }) => ({ ...shared, records }));
  const records = new DeploymentRecords(first.records);
  for (let index = 0; index < 5; index += 1) {
    await records.write(records.put(deploymentOf(shared.clock, "* * * * *"), 0, shared.clock.now()));
  }
  for (let minute = 0; minute < 10; minute += 1) {
    shared.clock.at += 60_000;
    await Promise.all(worlds.map((world) => runProcess(world)));
  }
  const runs = await records.runs({ limit: 1_000 });
  expect(runs.map(({ state }) => state)).toEqual(Array.from({ length: 50 }, () => "started"));
  expect([...shared.sessions.values()]).toEqual(Array.from({ length: 50 }, () => 1));
});
