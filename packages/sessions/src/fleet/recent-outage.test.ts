import { expect, test } from "vitest";
import { MovableClock } from "../host/movable-clock.ts";
import { RecentOutage } from "./recent-outage.ts";

const LEASE = 10_000;

test("an outage is recent while it lasts and for some time afterwards", () => {
  const clock = new MovableClock();
  const outage = new RecentOutage(clock);
  outage.end();
  expect(outage.isWithin(LEASE)).toBe(false);
  outage.begin();
  clock.advance(2 * LEASE);
  expect(outage.isWithin(LEASE)).toBe(true);
  outage.end();
  clock.advance(LEASE / 2);
  outage.end();
  expect(outage.isWithin(LEASE)).toBe(true);
  clock.advance(LEASE);
  expect(outage.isWithin(LEASE)).toBe(false);
});
