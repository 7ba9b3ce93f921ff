import { expect, test } from "vitest";
import { ago, usd } from "./human-units.ts";

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

test("cents are shown in dollars", () => expect(usd({ amount: "1234" })).toBe("$12.34"));
