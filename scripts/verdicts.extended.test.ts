import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { judgeDamaged, measureVerdicts, notJudged, openDatabases } from "../bench/verdicts/measure-verdicts.ts";
import { SHOP } from "../bench/verdicts/shop.ts";

const COUNT = inject("soak") ? 2_000 : 40;

/** `npm run bench verdicts` prints the figures; these are the ones that must hold. */
test("no statement that counts a row twice passes for proven", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tandem-verdicts-"));
  const databases = await openDatabases(folder);
  try {
    for (const { name, connection, tables } of databases) {
      const { falselyProven, recall, proven } = await measureVerdicts(name, connection, tables, COUNT);
      expect(falselyProven, name).toEqual([]);
      expect(recall, name).toBeGreaterThanOrEqual(0.99);
      expect(proven, name).toBeGreaterThan(0);
      // The product also asks the database, which refuses the rest.
      const damaged = await judgeDamaged(connection, tables, COUNT);
      expect(damaged.refused.length / COUNT, name).toBeLessThan(0.05);
    }
  } finally {
    for (const { connection } of databases) await connection[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  }
});

test.each(["sqlite", "duckdb", "postgres", "mysql"] as const)(
  "ordinary statements of %s are judged",
  async (dialect) => {
    const { count, reasons } = await notJudged(dialect, SHOP);
    expect(reasons.length / count, reasons.join("\n")).toBeLessThanOrEqual(0.03);
  },
);
