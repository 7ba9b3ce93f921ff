import { startPostgres } from "@tandem/storage/testing";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, inject, test } from "vitest";
import { sessionMachine } from "../testing/session-machine.ts";
import { busyModel, FaultRun, QUICK_TAKEOVER } from "./fault-run.ts";

const KILLS = inject("soak") ? 32 : 2;
const KILLS_ON_POSTGRES = 8;
const DATABASE_KILLS = 4;
const SESSIONS = inject("soak") ? 3 : 1;
/** Long enough to hit both the first answer and later turns. */
const MAX_LIFE_MS = 2_500;

// Kills at random times. The printed numbers identify a run.
test(`a server killed ${KILLS} times during turns loses no acknowledged message`, async () => {
  await using machine = await sessionMachine(busyModel, QUICK_TAKEOVER);
  const run = new FaultRun(machine);
  await run.up();
  await run.createSessions(SESSIONS);
  await killRepeatedly(run, KILLS);
  await run.verify();
  expect(run.sent).toBeGreaterThan(0);
  await run.stop();
});

// `npm test` kills servers, workers and Postgres in `scripts/chaos.extended.test.ts`.
test.runIf(inject("soak"))("the same on Postgres", async () => {
  await using postgres = await startPostgres();
  const url = await postgres.createDatabase();
  await using machine = await sessionMachine(busyModel, `${QUICK_TAKEOVER}storage: { url: "env:TEST_DATABASE" }\n`, {
    TEST_DATABASE: url,
  });
  const run = new FaultRun(machine);
  await run.up();
  await run.createSessions(SESSIONS);
  await killRepeatedly(run, KILLS_ON_POSTGRES);
  await run.verify();
  // The server keeps running while the database restarts during turns.
  for (let i = 0; i < DATABASE_KILLS; i += 1) {
    await Promise.all(run.sessions.map((session) => run.poke(session)));
    await sleep(Math.random() * 600);
    await postgres.kill();
    await sleep(Math.random() * 1_500);
    await postgres.start();
    await run.verify();
  }
  await run.stop();
});

async function killRepeatedly(run: FaultRun, kills: number): Promise<void> {
  for (let i = 0; i < kills; i += 1) {
    await Promise.all(run.sessions.map((session) => run.poke(session)));
    await sleep(Math.random() * MAX_LIFE_MS);
    await run.kill();
    await run.up();
    // Verify after every fourth kill, so that most kills hit sessions that were just taken over.
    if (i % 4 === 3) await run.verify();
  }
}
