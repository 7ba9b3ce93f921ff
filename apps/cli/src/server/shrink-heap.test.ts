import { getHeapSpaceStatistics } from "node:v8";
import { expect, test } from "vitest";
import { shrinkHeap } from "./shrink-heap.ts";

const newSpaceMb = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")!.space_size / 1_048_576;

test("gives the space for new objects back", () => {
  let kept: object[] = [];
  for (let count = 0; newSpaceMb() < 16 && count < 100; count += 1) {
    kept = Array.from({ length: 100_000 }, (_, index) => ({ index }));
  }
  expect(kept).toHaveLength(100_000);
  expect(newSpaceMb()).toBeGreaterThanOrEqual(16);
  shrinkHeap();
  expect(newSpaceMb()).toBeLessThanOrEqual(4);
});
