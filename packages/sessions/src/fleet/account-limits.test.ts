import { systemClock } from "@tandem/protocol";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@tandem/storage";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { AccountLimits } from "./account-limits.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const in_ = (ms: number) => new Date(NOW + ms).toISOString();
beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

async function scratchStore() {
  const folder = await mkdtemp(join(tmpdir(), "tandem-limits-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return openStore(join(folder, "tandem.db"));
}

test("a limit applies to an account and model family until its reset; of several, the longest counts", async () => {
  await using store = await scratchStore();
  const limits = new AccountLimits(store.records, systemClock);
  await limits.learn("login:a", { kind: "five_hour", model: "sonnet", resetsAt: in_(60_000) }, "first");
  await limits.learn("login:a", { kind: "seven_day_opus", model: "sonnet", resetsAt: in_(600_000) }, "second");
  expect(await limits.find("login:a", "claude-sonnet-5-5")).toMatchObject({ kind: "five_hour", by: "first" });
  expect(await limits.find("login:a", "claude-opus-5-5")).toMatchObject({ kind: "seven_day_opus" });
  expect(await limits.find("login:ab", "claude-sonnet-5-5")).toBeUndefined();
  vi.setSystemTime(NOW + 60_000);
  expect(await limits.find("login:a", "claude-sonnet-5-5")).toBeUndefined();
  expect(await limits.list()).toHaveLength(1);
});

test("a limit without a name blocks only the refused model, on its account", async () => {
  await using store = await scratchStore();
  const limits = new AccountLimits(store.records, systemClock);
  await limits.learn("api_key:a", { model: "claude-opus-5-5", resetsAt: in_(60_000) }, "first");
  expect(await limits.find("api_key:a", "opus")).toMatchObject({ model: "claude-opus-5-5" });
  expect(await limits.find("api_key:a", "claude-sonnet-5-5")).toBeUndefined();
  expect(await limits.find("api_key:b", "claude-opus-5-5")).toBeUndefined();
  await limits.learn("api_key:a", { model: "claude-sonnet-5-5", resetsAt: in_(30_000) }, "second");
  expect(await limits.list()).toHaveLength(2);
  await limits.forget((await limits.find("api_key:a", "opus"))!);
  expect(await limits.list()).toMatchObject([{ model: "claude-sonnet-5-5", by: "second" }]);
});

test("one process at a time may probe a limit; a lifted limit is forgotten", async () => {
  await using store = await scratchStore();
  const [one, other] = [new AccountLimits(store.records, systemClock), new AccountLimits(store.records, systemClock)];
  await one.learn("login:a", { kind: "seven_day", model: "sonnet", resetsAt: in_(86_400_000) }, "first");
  const limit = (await one.find("login:a", "sonnet"))!;
  expect(await one.mayTry(limit, 300_000)).toBe(false);
  vi.setSystemTime(NOW + 300_000);
  const tries = await Promise.all([one.mayTry(limit, 300_000), other.mayTry(limit, 300_000)]);
  expect(tries.filter(Boolean)).toHaveLength(1);
  expect(await other.mayTry(limit, 300_000)).toBe(false);
  await other.forget(limit);
  expect(await one.list()).toEqual([]);
});
