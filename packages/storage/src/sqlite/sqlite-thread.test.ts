import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** Packages loaded with a file, through value imports, transitively. */
function loadedWith(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const source = readFileSync(file, "utf8");
  const imports = [...source.matchAll(/^import (?!type\b)(?:[^"]*? from )?"([^"]+)"/gm)].map(([, target]) => target!);
  return imports.flatMap((target) =>
    target.startsWith(".")
      ? loadedWith(join(dirname(file), target), seen)
      : target.startsWith("@tandem/protocol/")
        ? loadedWith(fileURLToPath(import.meta.resolve(target)), seen)
        : target.startsWith("node:")
          ? []
          : [target],
  );
}

test("loads no schema library, which would triple the start time of each thread", () => {
  expect(loadedWith(join(import.meta.dirname, "sqlite-thread.ts"))).toEqual([]);
  expect(loadedWith(join(import.meta.dirname, "sqlite-worker.ts"))).toContain("@tandem/protocol");
});
