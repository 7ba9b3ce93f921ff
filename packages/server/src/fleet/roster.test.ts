import { thisHost, type WorkerRow } from "@tandem/storage";
import { expect, test } from "vitest";
import { isReachable } from "./roster.ts";

test.each([
  ["http://127.0.0.1:4100", thisHost(), true],
  ["http://127.0.0.1:4100", "another machine", false],
  ["http://[::1]:4100", "another machine", false],
  ["http://localhost:4100", "another machine", false],
  ["http://worker-1.example.org:4100", "another machine", true],
  ["no address", thisHost(), false],
  [null, thisHost(), false],
])("a token is sent to %s of %s: %s", (address, host, expected) => {
  expect(isReachable({ address, host } as WorkerRow)).toBe(expected);
});
