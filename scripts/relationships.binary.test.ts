import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { measure } from "../bench/relationships/measure.ts";
import { heldOut } from "../bench/relationships/schemas/held-out.ts";
import { writeSchema } from "../bench/relationships/schemas/schema.ts";
import { strip } from "../bench/relationships/strip.ts";
import { declaredLinks, type Link } from "../bench/relationships/truth.ts";

// What `npm run bench relationships` measures at length: here a floor, so that no change lowers it unseen.
const folder = mkdtempSync(join(tmpdir(), "tandem-joins-floor-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Found {
  f1: number;
  details: string;
}

/** The worse of two: with keys declared, and with none. A reversed link is as bad as can be. */
async function worst(file: string, truth: readonly Link[]): Promise<Found> {
  const results: Found[] = [];
  for (const keys of [true, false]) {
    const copy = `${file}.stripped`;
    strip(file, copy, { keys, views: true });
    const { f1, reversed, missed, wrong } = await measure(copy, truth);
    results.push({ f1: reversed > 0 ? 0 : f1, details: JSON.stringify({ keys, reversed, missed, wrong }, null, 2) });
  }
  return results.toSorted((a, b) => a.f1 - b.f1)[0]!;
}

describe("joins found without a model", () => {
  test.each(["chinook", "northwind"])("%s", async (name) => {
    const sample = join(import.meta.dirname, "..", "bench", "data", `${name}.sqlite`);
    const copy = join(folder, `${name}.sqlite`);
    strip(sample, copy, { keys: true, views: true });
    const { f1, details } = await worst(copy, declaredLinks(sample));
    expect(f1, details).toBeGreaterThanOrEqual(0.95);
  });

  const small = heldOut.filter(({ tables }) => Object.keys(tables).length < 100);
  test.each(small.map((schema) => [schema.name, schema] as const))("%s", async (name, schema) => {
    const file = join(folder, `${name}.sqlite`);
    writeSchema(schema, file);
    const more = (schema.undeclarable ?? []).map(({ from, column, to, toColumn }) => ({
      from: { table: from, columns: [column] },
      to: { table: to, columns: [toColumn] },
    }));
    const { f1, details } = await worst(file, [...declaredLinks(file), ...more]);
    expect(f1, details).toBeGreaterThanOrEqual(0.9);
  });
});
