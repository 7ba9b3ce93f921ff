import { describe, expect, it } from "vitest";
import { diffLines } from "@tandem/workspace";
import { applyEdits, fromLines, toLines } from "./line-edits.ts";
import { mergeEdits } from "./merge-edits.ts";

/** Seeded random numbers, so that a failure is reproducible. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) | 0;
    return (((state >>> 8) % below) + below) % below;
  };
}

/** Few distinct lines, so that they repeat like in YAML. */
function someLines(random: (below: number) => number, prefix: string, most: number): string[] {
  return Array.from({ length: random(most) }, () => `${prefix}${random(6)}`);
}

function changed(random: (below: number) => number, base: readonly string[], prefix: string): string[] {
  const lines = [...base];
  for (let edits = random(4); edits >= 0; edits -= 1) {
    lines.splice(random(lines.length + 1), random(3), ...someLines(random, prefix, 4));
  }
  return lines;
}

describe("diffLines", () => {
  it("converts any text into any other", () => {
    for (let seed = 0; seed < 3_000; seed += 1) {
      const random = randomFrom(seed);
      const before = someLines(random, "", 14);
      const after = seed % 2 === 0 ? changed(random, before, "") : someLines(random, "", 14);
      expect(applyEdits(before, diffLines(before, after)), `seed ${seed}`).toEqual(after);
    }
  });

  it("contains only differences", () => {
    expect(diffLines(["a", "b", "c"], ["a", "x", "c"])).toEqual([{ start: 1, end: 2, lines: ["x"] }]);
    expect(diffLines(["a", "c"], ["a", "b", "c"])).toEqual([{ start: 1, end: 1, lines: ["b"] }]);
    expect(diffLines(["a"], ["a"])).toEqual([]);
    expect(diffLines(["a", "b", "c", "d"], ["b", "c", "x", "d"])).toEqual([
      { start: 0, end: 1, lines: [] },
      { start: 3, end: 3, lines: ["x"] },
    ]);
  });

  it("handles long texts without common lines", () => {
    const before = Array.from({ length: 5_000 }, (_, i) => `a${i}`);
    const after = Array.from({ length: 5_000 }, (_, i) => `b${i}`);
    expect(diffLines(before, after)).toEqual([{ start: 0, end: 5_000, lines: after }]);
  });
});

describe("mergeEdits", () => {
  it("loses no line of a person, and applies all edits or reports conflicts", () => {
    for (let seed = 0; seed < 5_000; seed += 1) {
      const random = randomFrom(seed);
      const base = someLines(random, "", 16);
      const edits = diffLines(base, changed(random, base, "ours"));
      const current = changed(random, base, "theirs");
      const { lines, outcomes } = mergeEdits(base, current, edits);
      const why = `seed ${seed}`;
      const theirs = (list: readonly string[]) => list.filter((line) => line.startsWith("theirs"));
      expect(theirs(lines), why).toEqual(theirs(current));
      // The applied edits alone give the same lines of ours.
      const applied = edits.filter((_, index) => outcomes[index] !== "conflict");
      const ours = (list: readonly string[]) => list.filter((line) => line.startsWith("ours"));
      expect(ours(lines), why).toEqual(ours(applyEdits(base, applied)));
      // Untouched lines of others keep their order.
      if (outcomes.every((outcome) => outcome === "conflict")) expect(lines, why).toEqual(current);
    }
  });

  it("is idempotent", () => {
    for (let seed = 0; seed < 3_000; seed += 1) {
      const random = randomFrom(seed);
      const base = someLines(random, "", 16);
      const edits = diffLines(base, changed(random, base, "ours"));
      const done = applyEdits(base, edits);
      expect(mergeEdits(base, done, edits).lines, `seed ${seed}`).toEqual(done);
    }
  });

  it("applies an edit beside other changes nearby", () => {
    const base = ["a", "b", "c", "d"];
    const { lines, outcomes } = mergeEdits(base, ["a", "B!", "c", "d", "e"], [{ start: 2, end: 3, lines: ["C"] }]);
    expect(lines).toEqual(["a", "B!", "C", "d", "e"]);
    expect(outcomes).toEqual(["applied"]);
  });

  it("reports a conflict for changes to one line, and for insertions at one place", () => {
    expect(mergeEdits(["a"], ["theirs"], [{ start: 0, end: 1, lines: ["ours"] }])).toEqual({
      lines: ["theirs"],
      outcomes: ["conflict"],
    });
    expect(mergeEdits(["a"], ["a", "theirs"], [{ start: 1, end: 1, lines: ["ours"] }])).toEqual({
      lines: ["a", "theirs"],
      outcomes: ["conflict"],
    });
  });

  it("recognises an edit that was already made", () => {
    expect(mergeEdits(["a", "b"], ["A", "b", "c"], [{ start: 0, end: 1, lines: ["A"] }]).outcomes).toEqual(["already"]);
    // One more `x` among others is the same insertion, wherever it is placed.
    const current = ["x", "x", "x", "y", "END"];
    const { lines, outcomes } = mergeEdits(["x", "x", "y", "end"], current, [{ start: 1, end: 1, lines: ["x"] }]);
    expect({ lines, outcomes }).toEqual({ lines: current, outcomes: ["already"] });
  });
});

describe("lines", () => {
  it("round-trip: CRLF, no final line end, empty", () => {
    for (const text of ["", "\n", "a", "a\n", "a\r\nb\r\n", "\n\n", "ü\u2028x\n"])
      expect(fromLines(toLines(text))).toBe(text);
  });
});
