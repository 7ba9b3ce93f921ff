import { newId } from "@tandem/protocol";
import { scratchStore } from "@tandem/storage/testing/scratch-store";
import { expect, test } from "vitest";
import { today } from "../budgets/budget-hook.ts";
import { MovableClock } from "../host/movable-clock.ts";
import { noUsageYet } from "../log/usage-ledger.ts";
import { takenNow } from "./taken-now.ts";

test("the spending of the day is that of the clock's day", async () => {
  const store = await scratchStore();
  // Noon, so that a time zone does not change the day.
  const clock = new MovableClock(new Date("2031-03-05T12:00:00"));
  const at = new Date(clock.now()).toISOString();
  const id = newId("session");
  await store.sessions.create(
    {
      id,
      status: "idle",
      agent: {
        type: "agent",
        id: newId("agent"),
        version: 1,
        name: "Sample",
        description: null,
        model: { id: "claude-sonnet-5-5" },
        system: null,
        tools: [],
        mcp_servers: [],
        skills: [],
        execution_identity: { type: "service_account" },
        multiagent: null,
      },
      environmentId: "env_local",
      title: null,
      metadata: {},
      resources: [],
      budget: null,
      usage: noUsageYet(),
      activeMs: 0,
      waitingFor: [],
      folder: "/projects/one",
      place: null,
      claudeSession: undefined,
      primaryThread: newId("thread"),
      createdAt: at,
      updatedAt: at,
      archivedAt: null,
    },
    [],
  );
  const lease = await store.leases.take(id, "test", 60_000);
  // An account counts from the first total that it is given.
  for (const total of [0, 2_500_000]) {
    const claim = { scope: "day", of: today(clock), unit: "usd", total, reserve: 0, limit: null } as const;
    await store.spending.settle(lease!, [claim]);
  }
  expect((await takenNow(store, clock)).dailyUsd).toBe(2.5);
  clock.advance(24 * 60 * 60 * 1_000);
  expect((await takenNow(store, clock)).dailyUsd).toBe(0);
});
