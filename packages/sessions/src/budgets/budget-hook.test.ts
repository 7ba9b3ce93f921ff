import { RequestError, type SessionEventBody, type StopReason, systemClock, type Clock } from "@tandem/protocol";
import { scratchFolder, scratchStore } from "@tandem/storage/testing/scratch-store";
import { expect, onTestFinished, test } from "vitest";
import { DatabaseWait } from "../host/database-wait.ts";
import { MovableClock } from "../host/movable-clock.ts";
import { waitingStore } from "../host/waiting-store.ts";
import { UsageLedger } from "../log/usage-ledger.ts";
import { BudgetHook } from "./budget-hook.ts";
import { QuotaRegistry } from "./quota-registry.ts";

const ROW = {
  id: "sesn_1",
  agent: { id: "agent_1", model: { id: "claude-sonnet-5-5" } },
  metadata: {},
  waitingFor: [],
  budget: null,
};

/** A hook in the middle of a turn, whose database fails `times` times from now on. */
async function hookWhoseDatabaseFails(times: number, boundMs: number, clock: Clock = systemClock) {
  const folder = await scratchFolder();
  const store = await scratchStore(folder);
  const stopped = Promise.withResolvers<{ reason: StopReason; events: readonly SessionEventBody[] }>();
  const settled = Promise.withResolvers<void>();
  const database = new DatabaseWait(systemClock, boundMs);
  let failures = -Infinity;
  const failing = {
    ...store,
    spending: {
      ...store.spending,
      settle: async () => {
        failures += 1;
        if (failures > 0 && failures <= times) throw new RequestError("unavailable", "The disk is full.");
        if (failures > 0) settled.resolve();
        return [];
      },
    },
  };
  const ledger = new UsageLedger("sthr_1" as never, clock);
  const limits = { turn: {}, session: {}, agent: {}, project: {}, day: {} };
  const own = waitingStore(failing, database);
  const hook = new BudgetHook({
    clock,
    store: own,
    quotaRegistry: new QuotaRegistry(own.records, limits),
    settings: { limits, project: folder, payer: async () => null },
    control: {
      row: () => ROW as never,
      lease: { session: "sesn_1" as never, token: 1 },
      ledger,
      change: async () => undefined,
      database,
      stop: (reason, events = []) => stopped.resolve({ reason, events }),
    },
  });
  onTestFinished(() => hook.left().catch(() => undefined));
  await hook.admit();
  await hook.before();
  failures = 0;
  hook.observe({ type: "event", thread: "sthr_2", event: { type: "span.model_request_start" } } as never);
  return { stopped: stopped.promise, settled: settled.promise, ledger };
}

test("a clock that is set back or forward does not change the time that a turn has worked", async () => {
  const clock = new MovableClock();
  const { ledger } = await hookWhoseDatabaseFails(0, 1_000, clock);
  clock.step(-3_600_000);
  clock.advance(2_000);
  await expect.poll(() => ledger.workedMs).toBeGreaterThanOrEqual(2_000);
  clock.step(7_200_000);
  clock.advance(2_000);
  await expect.poll(() => ledger.workedMs).toBeGreaterThanOrEqual(4_000);
  expect(ledger.workedMs).toBeLessThan(3_600_000);
});

test("a budget check waits for the database, and the turn continues", async () => {
  const { stopped, settled } = await hookWhoseDatabaseFails(2, 60_000);
  expect(await Promise.race([stopped, settled.then(() => "settled")])).toBe("settled");
});

test("a budget check that fails stops the turn with its own error, not with budget_reached", async () => {
  const { stopped } = await hookWhoseDatabaseFails(Infinity, 100);
  const { reason, events } = await stopped;
  expect(reason).toEqual({ type: "retries_exhausted" });
  expect(events).toMatchObject([
    {
      type: "session.error",
      error: {
        message: "The turn was stopped because its budget could not be checked: The disk is full.",
        tandem: { code: "budget_check_failed", fix: expect.any(String) },
      },
    },
  ]);
});
