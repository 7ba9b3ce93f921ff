import { type MetricAnswer, metricQuestion, TandemError } from "@tandem/protocol";
import type { Command } from "commander";
import { z } from "zod";
import { EXIT_CODES } from "../../exit-code.ts";
import type { Invocation } from "../../invocation.ts";
import { describeAnswer, describeMetric, listMetrics, listProblems } from "../../metrics/describe-metrics.ts";
import { parseFilter } from "../../metrics/parse-filter.ts";
import { toLimit } from "../../number-options.ts";
import { Progress } from "../../progress.ts";
import { printable, styleFor, write, writeJson, writeResult } from "../../terminal.ts";
import { withKnowledge } from "../../with-knowledge.ts";
import { collect, listOption, type Registration, subcommandsOf } from "../registration.ts";
import { registerImport } from "./metrics-import.ts";

export function register(command: Command, registration: Registration): void {
  const { examples, json, runner } = registration;
  const sub = subcommandsOf(command);
  const connection = ["--connection <name>", "only metrics of this connection"] as const;
  examples(
    sub("list", "List the metrics.")
      .argument("[words...]", "only metrics with these words in their names or descriptions")
      .option(...connection)
      .addOption(json())
      .action(runner(list)),
    "tandem metrics list",
    "tandem metrics list revenue --json",
  );
  examples(
    sub("show", "Print a metric's definition and the fields that it can be grouped by.")
      .argument("<metric>", "name of the metric")
      .option(...connection)
      .addOption(json())
      .action(runner(show)),
    "tandem metrics show revenue",
  );
  examples(
    sub("query", "Compute metrics, grouped and filtered.")
      .argument("<metrics...>", "names of the metrics")
      .addOption(listOption("--by <fields>", "group by these fields, such as customer.segment or placed.month"))
      .option(
        "--where <filter>",
        "only rows that match, such as 'status = paid' or 'placed: this_year' (repeatable)",
        collect,
      )
      .addOption(listOption("--segment <names>", "only rows of these segments, such as order.real"))
      .addOption(listOption("--order <fields>", "sort by these columns of the result; field:desc sorts descending"))
      .option("--limit <number>", "maximum number of rows", "1000")
      .option("--fill", "add periods without rows; needs a range and one time among the fields")
      .option("--compile-only", "print the SQL without running it")
      .option(...connection)
      .addOption(json())
      .action(runner(query)),
    "tandem metrics query revenue orders --by customer.segment --where 'placed: this_year'",
    "tandem metrics query revenue --by placed.month --where 'placed: last 6 months' --fill",
    "tandem metrics query revenue --where 'status in paid, open' --compile-only",
  );
  examples(
    sub("check", "Check all definitions against the catalogue and the database. Exits with 1 if one cannot be used.")
      .option(...connection)
      .addOption(json())
      .action(runner(check)),
    "tandem metrics check",
  );
  registerImport(sub, registration);
}

interface ConnectionOption {
  connection?: string;
}

interface QueryOptions extends ConnectionOption {
  by?: string[];
  where?: string[];
  segment?: string[];
  order?: string[];
  limit: string;
  fill?: boolean;
  compileOnly?: boolean;
}

async function list(invocation: Invocation, words: readonly string[], { connection }: ConnectionOption): Promise<void> {
  const found = await withKnowledge(invocation, "metrics list", ({ metrics }) =>
    metrics.list({ connection, query: words.join(" ") }),
  );
  await writeResult(invocation, { metrics: found }, listMetrics(styleFor(invocation.stdout), found));
}

async function show(invocation: Invocation, name: string, { connection }: ConnectionOption): Promise<void> {
  const metric = await withKnowledge(invocation, "metrics show", ({ metrics }) =>
    metrics.retrieve({ name, connection }),
  );
  await writeResult(invocation, metric, describeMetric(styleFor(invocation.stdout), metric));
}

export async function query(invocation: Invocation, metrics: string[], options: QueryOptions): Promise<void> {
  const question = metricQuestion.safeParse({
    metrics,
    by: options.by ?? [],
    where: (options.where ?? []).map(parseFilter),
    segments: options.segment ?? [],
    order: (options.order ?? []).map(parseOrder),
    limit: toLimit("--limit", options.limit),
    fill: options.fill ?? false,
    connection: options.connection,
    compile_only: options.compileOnly ?? false,
  });
  if (!question.success) throw new TandemError("usage", `The query does not fit: ${z.prettifyError(question.error)}`);
  const answer = await withKnowledge(invocation, "metrics query", async (knowledge) => {
    using _ = new Progress(invocation, "Computing …");
    return knowledge.metrics.query(question.data, { signal: invocation.signal });
  });
  if (invocation.json) return writeJson(invocation.stdout, answer);
  if (options.compileOnly) await write(invocation.stdout, `${printable(answer.sql)}\n`);
  else await write(invocation.stdout, `${describeAnswer(styleFor(invocation.stdout), answer).join("\n")}\n`);
  await writeNotes(invocation, answer);
}

/** On stderr, so that a pipe gets only the rows or the SQL. */
async function writeNotes(
  { stderr }: Invocation,
  { warnings, truncated, rows, definitions }: MetricAnswer,
): Promise<void> {
  const { warn, dim } = styleFor(stderr);
  for (const warning of warnings) await write(stderr, `${warn("warning")}: ${printable(warning)}\n`);
  if (truncated) await write(stderr, `${warn(`Only the first ${rows.length} rows are shown.`)} → --limit\n`);
  const versions = new Map(definitions.map(({ path, version }) => [path, version]));
  for (const [path, version] of versions) await write(stderr, `${dim(`${path} at ${version}`)}\n`);
}

function parseOrder(text: string): { field: string; descending: boolean } {
  const [, field, direction] = /^(.+?)(?::(asc|desc))?$/.exec(text)!;
  return { field: field!, descending: direction === "desc" };
}

async function check(invocation: Invocation, { connection }: ConnectionOption): Promise<number> {
  const { signal } = invocation;
  const { problems, unreachable, count } = await withKnowledge(invocation, "metrics check", async ({ metrics }) => {
    const defined = await metrics.check({ connection });
    const explained = await metrics.explain({ connection }, { signal });
    return {
      problems: [...defined, ...explained.problems],
      unreachable: explained.unreachable,
      count: (await metrics.list({ connection })).length,
    };
  });
  const lines = listProblems(styleFor(invocation.stdout), problems, count);
  await writeResult(invocation, { problems, unreachable }, lines);
  for (const { connection: name, message } of invocation.json ? [] : unreachable) {
    const { warn } = styleFor(invocation.stderr);
    await write(
      invocation.stderr,
      `${warn("not reachable")} ${name}: ${printable(message)} Its metrics were checked against the catalogue only.\n`,
    );
  }
  return problems.length > 0 ? EXIT_CODES.failure.code : EXIT_CODES.ok.code;
}
