import { expect, test } from "vitest";
import { measureSlowness } from "./machine-slowness.ts";

test("the slowness of a machine is a factor that never shortens a timeout", () => {
  const slowness = measureSlowness();
  expect(slowness).toBeGreaterThanOrEqual(1);
  expect(slowness).toBeLessThanOrEqual(12);
  expect(Number.isInteger(slowness * 2)).toBe(true);
});
