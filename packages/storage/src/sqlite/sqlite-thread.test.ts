import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

/** Libraries that are loaded with a file: through imports of values, in it and in the files that it imports. */
function loadedWith(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const source = readFileSync(file, "utf8");
  const imports = [...source.matchAll(/^import (?!type\b)(?:[^"]*? from )?"([^"]+)"/gm)].map(([, target]) => target!);
  return imports.flatMap((target) =>
    target.startsWith(".") ? loadedWith(join(dirname(file), target), seen) : target.startsWith("node:") ? [] : [target],
  );
}

test("a thread loads no schemas: it would start three times as slowly, and there are two of them", () => {
  expect(loadedWith(join(import.meta.dirname, "sqlite-thread.ts"))).toEqual([]);
  expect(loadedWith(join(import.meta.dirname, "sqlite-worker.ts"))).toContain("@tandem/protocol");
});
