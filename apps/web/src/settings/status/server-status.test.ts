import { expect, test } from "vitest";
import { toneOf } from "./server-status.ts";

test("only a credential that the service has accepted is shown as good", () => {
  expect(["usable", "found", "unverified", "rejected", "missing"].map(toneOf)).toEqual([
    "good",
    "plain",
    "wait",
    "bad",
    "bad",
  ]);
});
