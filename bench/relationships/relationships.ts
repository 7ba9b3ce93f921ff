import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Measured, measureJoins } from "./measure-joins.ts";
import { type BenchRun, openModel } from "./open-model.ts";
import { anotherHand } from "./schemas/another-hand.ts";
import { heldOut } from "./schemas/held-out.ts";
import { messy } from "./schemas/messy.ts";
import { secondLook } from "./schemas/second-look.ts";
import { type Schema, writeSchema } from "./schemas/schema.ts";
import { tuning } from "./schemas/tuning.ts";
import { wellKnown } from "./schemas/well-known.ts";
import { strip, type Stripping } from "./strip.ts";
import { declaredLinks, type Link } from "./truth.ts";

const HOW_WITH_MODEL =
  "With one: npm run bench relationships -- --llm --project FOLDER, where FOLDER has a tandem.yaml with a backend.";
const SAMPLES = ["chinook", "northwind"].map((name) => join(import.meta.dirname, "..", "data", `${name}.sqlite`));

interface Database {
  name: string;
  file: string;
  truth: readonly Link[];
  views: boolean;
}

/** Strips the foreign keys from each database, finds them again, and prints how well. */
export async function run(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      details: { type: "boolean" },
      only: { type: "string" },
      llm: { type: "boolean" },
      project: { type: "string" },
    },
  });
  if (values.llm && values.project === undefined) {
    console.log(`The step with a model is left out: ${HOW_WITH_MODEL}`);
  }
  await using run = values.llm && values.project ? await openModel(resolve(values.project), process.env) : undefined;
  const folder = mkdtempSync(join(tmpdir(), "tandem-bench-"));
  try {
    const groups: [string, Database[]][] =
      positionals.length > 0
        ? [["Files", positionals.map(fromFile)]]
        : [
            ["Samples", SAMPLES.map(fromFile)],
            ["Generated, for tuning", tuning.map((schema) => generate(schema, folder))],
            ["Generated, after well-known schemas", wellKnown.map((schema) => generate(schema, folder))],
            ["Generated, held out", heldOut.map((schema) => generate(schema, folder))],
            ["Generated, by another hand", anotherHand.map((schema) => generate(schema, folder))],
            ["Generated, messy", messy.map((schema) => generate(schema, folder))],
            ["Generated, second look", secondLook.map((schema) => generate(schema, folder))],
          ];
    for (const [title, databases] of groups) {
      if (
        values.only &&
        !title.toLowerCase().includes(values.only) &&
        !databases.some(({ name }) => name === values.only)
      )
        continue;
      const chosen = databases.filter(
        ({ name }) => !values.only || title.toLowerCase().includes(values.only) || name === values.only,
      );
      await report(title, chosen, { folder, details: values.details ?? false, run });
    }
    if (run)
      console.log(
        `\nRequests to the model: ${run.requests()}; tables that it could not be asked about: ${run.skipped.length}.`,
      );
    for (const line of run?.skipped ?? []) console.log(`    ${line}`);
    if (!values.llm) console.log(`\nWithout a model. ${HOW_WITH_MODEL}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const fromFile = (file: string): Database => ({
  name: basename(file).replace(/\.\w+$/, ""),
  file,
  truth: declaredLinks(file),
  views: true,
});

function generate(schema: Schema, folder: string): Database {
  const file = join(folder, `${schema.name}.sqlite`);
  writeSchema(schema, file);
  const more = (schema.undeclarable ?? []).map(({ from, column, to, toColumn }) => ({
    from: { table: from, columns: [column] },
    to: { table: to, columns: [toColumn] },
  }));
  return { name: schema.name, file, truth: [...declaredLinks(file), ...more], views: schema.views !== undefined };
}

interface Report {
  folder: string;
  details: boolean;
  run: BenchRun | undefined;
}

async function report(title: string, databases: readonly Database[], { folder, details, run }: Report): Promise<void> {
  console.log(`\n### ${title}\n`);
  const columns = [
    "database",
    "keys",
    "views",
    "links",
    "precision",
    "recall",
    "F1",
    "reversed",
    "for review",
    "seconds",
  ];
  if (run) columns.push(...["precision", "recall", "F1", "reversed", "seconds"].map((name) => `${name} with a model`));
  console.log(`| ${columns.join(" | ")} |`);
  console.log(`|${columns.map(() => "---|").join("")}`);
  const all: Measured[] = [];
  const withModel: Measured[] = [];
  for (const { name, file, truth, views } of databases) {
    const variants: Stripping[] = [true, false].flatMap((keys) =>
      (views ? [true, false] : [true]).map((with_) => ({ keys, views: with_ })),
    );
    for (const variant of variants) {
      const copy = join(folder, "stripped.sqlite");
      strip(file, copy, variant);
      const result = await measureJoins(copy, truth);
      all.push(result);
      const asked = run && (await measureJoins(copy, truth, run));
      if (asked) withModel.push(asked);
      const figures = figuresOf(result);
      const cells = [
        name,
        variant.keys ? "declared" : "stripped",
        !views ? "none" : variant.views ? "yes" : "no",
        result.truths,
      ];
      console.log(
        `| ${[
          ...cells,
          ...figures,
          result.reversed,
          result.inReview,
          result.seconds.toFixed(2),
          ...(asked ? [...figuresOf(asked), asked.reversed, asked.seconds.toFixed(2)] : []),
        ].join(" | ")} |`,
      );
      if (details) for (const line of result.missed) console.log(`    missed ${line}`);
      if (details) for (const line of result.wrong) console.log(`    wrong  ${line}`);
      if (details) for (const line of asked?.missed ?? []) console.log(`    with a model: missed ${line}`);
      if (details) for (const line of asked?.wrong ?? []) console.log(`    with a model: wrong  ${line}`);
    }
  }
  console.log(`\n${summaryOf(all)}`);
  if (withModel.length > 0) console.log(`With a model: ${summaryOf(withModel)}`);
}

const figuresOf = ({ precision, recall, f1 }: Measured): string[] =>
  [precision, recall, f1].map((figure) => figure.toFixed(3));

function summaryOf(all: readonly Measured[]): string {
  const mean = all.reduce((sum, { f1 }) => sum + f1, 0) / all.length;
  const reversals = all.reduce((sum, each) => sum + each.reversed, 0);
  return `Mean F1 ${mean.toFixed(3)}, lowest ${Math.min(...all.map(({ f1 }) => f1)).toFixed(3)}, reversed links ${reversals}.`;
}
