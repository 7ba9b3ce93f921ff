import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

/** In a process of its own: the heap of a test runner has other things in it. */
const PROGRAM = `
import { getHeapSpaceStatistics } from "node:v8";
import { shrinkHeap } from ${JSON.stringify(new URL("shrink-heap.ts", import.meta.url).href)};
const newSpace = () => getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space").space_size;
let kept = [];
for (let count = 0; newSpace() < 16_000_000 && count < 100; count += 1) {
  kept = Array.from({ length: 100_000 }, (_, index) => ({ index }));
}
const grown = newSpace();
shrinkHeap();
console.log(JSON.stringify({ kept: kept.length, grown, left: newSpace() }));
`;

test("gives the space for new objects back", () => {
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", PROGRAM];
  const { grown, left } = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as {
    grown: number;
    left: number;
  };
  expect(grown).toBeGreaterThanOrEqual(16_000_000);
  expect(left).toBeLessThan(grown / 2);
});
