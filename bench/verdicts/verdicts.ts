import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SHOP } from "./shop.ts";
import { judgeDamaged, measureVerdicts, notJudged, openDatabases } from "./measure-verdicts.ts";

/** Verdicts on random statements, compared with the data. The number of statements per database is an argument. */
export async function run(args: string[]): Promise<void> {
  const count = Number(args.find((argument) => /^\d+$/.test(argument)) ?? 3_000);
  const folder = await mkdtemp(join(tmpdir(), "tandem-verdicts-"));
  const databases = await openDatabases(folder);
  try {
    console.log(
      "| database | statements | proven | inflate rows | falsely proven | recall | not judged | not counted | static p95 | slowest measuring |",
    );
    console.log("|---|---|---|---|---|---|---|---|---|---|");
    for (const { name, connection, tables } of databases) {
      const found = await measureVerdicts(name, connection, tables, count);
      console.log(
        `| ${name} | ${found.statements} | ${found.proven} | ${found.inflated} | ${found.falselyProven.length} | ${found.recall.toFixed(4)} | ${found.notJudged} | ${found.uncounted} | ${found.staticP95.toFixed(1)} ms | ${found.measureMax.toFixed(0)} ms |`,
      );
      for (const line of found.falselyProven.slice(0, 5)) console.log(`  ${line}`);
      const damaged = await judgeDamaged(connection, tables, count);
      console.log(
        `  ${count} damaged texts: ${damaged.proven} proven, ${damaged.refused.length} of them refused by the database`,
      );
      for (const line of damaged.refused.slice(0, 3)) console.log(`    ${line}`);
    }
    for (const dialect of ["sqlite", "duckdb", "postgres", "mysql"] as const) {
      const { count: all, reasons } = await notJudged(dialect, SHOP);
      console.log(`${dialect}: ${reasons.length} of ${all} hand-written statements are not judged`);
      if (args.includes("--reasons")) console.log(reasons.map((reason) => `  ${reason}`).join("\n"));
    }
  } finally {
    for (const { connection } of databases) await connection[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  }
}
