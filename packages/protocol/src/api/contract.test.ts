import { expect, test } from "vitest";
import { CONTRACT } from "./contract.ts";
import { ENDPOINTS } from "./endpoints.ts";

// The other direction, an endpoint without shapes, is a compile error in contract.ts.
test("every operation of the contract has an endpoint", () => {
  expect(Object.keys(CONTRACT).filter((name) => !(name in ENDPOINTS))).toEqual([]);
});
