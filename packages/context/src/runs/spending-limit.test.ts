import { expect, test } from "vitest";
import { requireWithinLimit } from "./spending-limit.ts";

test("a job starts within its limit, or without one, and an unknown price does not stop it", () => {
  expect(() => requireWithinLimit("scan", { requests: 90, usd: 4 }, { usd: 5, requests: 100 })).not.toThrow();
  expect(() => requireWithinLimit("scan", { requests: 90, usd: 400 }, undefined)).not.toThrow();
  expect(() => requireWithinLimit("scan", { requests: 90, usd: null }, { usd: 5 })).not.toThrow();
});

test.each([
  [
    { requests: 34_980, usd: 513 },
    { usd: 25 },
    "The ingest would make about 34,980 model requests for about $513.00; its limit is $25.00. It was not started.",
  ],
  [
    { requests: 11, usd: null },
    { requests: 10 },
    "The ingest would make about 11 model requests for an unknown price; its limit is 10 requests. It was not started.",
  ],
])("a job beyond its limit does not start and names both figures", (estimate, limit, message) => {
  expect(() => requireWithinLimit("ingest", estimate, limit)).toThrow(
    expect.objectContaining({ code: "over_budget", message, fix: expect.stringContaining("--yes") }),
  );
});
