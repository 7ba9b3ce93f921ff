import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, inject, test } from "vitest";
import { object, startRehearsal, always } from "@tandem/rehearsal";
import { scratchMachine } from "../apps/cli/src/testing/run-tandem.ts";
import { measureJoins } from "../bench/relationships/measure-joins.ts";
import { openModel } from "../bench/relationships/open-model.ts";
import { league } from "../bench/relationships/schemas/another-hand/league.ts";
import { anotherHand } from "../bench/relationships/schemas/another-hand.ts";
import { heldOut } from "../bench/relationships/schemas/held-out.ts";
import { messy } from "../bench/relationships/schemas/messy.ts";
import { secondLook } from "../bench/relationships/schemas/second-look.ts";
import { writeSchema } from "../bench/relationships/schemas/schema.ts";
import { strip } from "../bench/relationships/strip.ts";
import { declaredLinks, type Link } from "../bench/relationships/truth.ts";

// A lower bound on the figures of `npm run bench relationships`, so that a regression is noticed.
const folder = mkdtempSync(join(tmpdir(), "tandem-joins-floor-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Found {
  f1: number;
  details: string;
}

/** The worst run: without declared keys, which is the harder case, or also with them. A reversed join counts as the worst error. */
async function worst(file: string, truth: readonly Link[], withKeys = inject("soak")): Promise<Found> {
  const results: Found[] = [];
  for (const keys of withKeys ? [true, false] : [false]) {
    const copy = `${file}.stripped`;
    strip(file, copy, { keys, views: true });
    const { f1, reversed, missed, wrong } = await measureJoins(copy, truth);
    results.push({ f1: reversed > 0 ? 0 : f1, details: JSON.stringify({ keys, reversed, missed, wrong }, null, 2) });
  }
  return results.toSorted((a, b) => a.f1 - b.f1)[0]!;
}

describe("joins found without a model", () => {
  test.each(["chinook", "northwind"])("%s", async (name) => {
    const sample = join(import.meta.dirname, "..", "bench", "data", `${name}.sqlite`);
    const copy = join(folder, `${name}.sqlite`);
    strip(sample, copy, { keys: true, views: true });
    const { f1, details } = await worst(copy, declaredLinks(sample), true);
    expect(f1, details).toBeGreaterThanOrEqual(0.95);
  });

  // Only a model can know that a match has a home and an away team.
  const others = anotherHand.filter((schema) => schema !== league);
  const small = [...heldOut, ...others, ...messy, ...secondLook].filter(
    ({ tables }) => Object.keys(tables).length < 100,
  );
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

describe("joins found with a model", () => {
  test("its suggestions are verified and counted", async () => {
    const name = (table: string, column: string, to: string) => ({
      from: { schema: "main", table, columns: [column] },
      to: { schema: "main", table: to, columns: ["id"] },
      confidence: 0.9,
      why: "It was named.",
    });
    const joins = [
      name("teams", "home_ground", "venues"),
      name("seasons", "champion", "teams"),
      name("matches", "winner", "teams"),
      name("matches", "attendance", "teams"),
      name("teams", "founded", "venues"),
    ];
    await using rehearsal = await startRehearsal([always(object({ joins }))]);
    const provider = `{ backend: anthropic, anthropic: { baseUrl: "${rehearsal.url}" } }`;
    await using machine = await scratchMachine(`llm: { provider: ${provider}, limits: { patience: 0s } }\n`);
    await machine.trust();
    await using run = await openModel(machine.project, { ...machine.variables, ANTHROPIC_API_KEY: "made-up" });
    const file = join(folder, "league.sqlite");
    writeSchema(league, file);
    const copy = `${file}.stripped`;
    strip(file, copy, { keys: false, views: true });
    const truth = declaredLinks(file);
    const [without, with_] = [await measureJoins(copy, truth), await measureJoins(copy, truth, run)];
    expect(without.f1).toBeLessThan(0.95);
    expect(with_, JSON.stringify(with_)).toMatchObject({ f1: 1, reversed: 0 });
    expect([run.requests(), run.skipped]).toEqual([1, []]);
  });
});
