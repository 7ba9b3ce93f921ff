import { expect, test } from "vitest";
import { ago, describeTimes, usd } from "./human-units.ts";

test.each([
  [0, "0 s ago"],
  [59_000, "59 s ago"],
  [61_000, "1 min ago"],
  [3 * 3_600_000, "3 h ago"],
  [50 * 24 * 3_600_000, "50 d ago"],
  [-5_000, "0 s ago"],
])("%i ms are %s", (ms, expected) => {
  expect(ago("2026-03-01T00:00:00.000Z", Date.parse("2026-03-01T00:00:00.000Z") + ms)).toBe(expected);
});

test.each([
  [4_200, 0, "4.2 s"],
  [42_000, 999, "42 s"],
  [42_000, 8 * 60_000, "42 s, waited 8 min for you"],
  [150_000, 3 * 3_600_000, "3 min, waited 3 h 0 min for you"],
])("%i ms active and %i ms waited are %s", (activeMs, waitedMs, expected) => {
  expect(describeTimes({ activeMs, waitedMs })).toBe(expected);
});

test("cents are shown in dollars", () => expect(usd({ amount: "1234" })).toBe("$12.34"));
