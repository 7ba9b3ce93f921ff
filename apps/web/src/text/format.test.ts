import { expect, test } from "vitest";
import { duration } from "./format.ts";

test("formats durations with useful precision", () => {
  const [second, minute, hour] = [1_000, 60_000, 3_600_000];
  expect([420, 12 * second, 3 * minute + 5 * second, 2 * hour + 5 * minute, 50 * hour].map(duration)).toEqual([
    "420 ms",
    "12 s",
    "3 min 5 s",
    "2 h 5 min",
    "2 d 2 h",
  ]);
});
