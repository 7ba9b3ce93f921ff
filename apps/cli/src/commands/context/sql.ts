import type { QueryEstimate, Rows, Value } from "@tandem/connectors";
import { TandemError } from "@tandem/protocol";
import { openNamedConnection } from "@tandem/tandem/compose";
import type { Invocation } from "../../invocation.ts";
import { openProject } from "@tandem/tandem/project";
import { Progress } from "../../progress.ts";
import { readPrompt } from "../../read-prompt.ts";
import { withKnowledge } from "../../with-knowledge.ts";
import { printable, styleFor, table, write } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  command
    .argument("<connection>", "name of the connection")
    .argument("[query...]", "SQL statement (default: standard input)")
    .option("--csv", "print CSV")
    .option("--max-rows <number>", "maximum number of rows", "100")
    .option("--estimate", "print the estimated rows and the query plan without running the query")
    .addOption(json())
    .action((name: string, words: string[], options: SqlOptions, self: Command) =>
      runner(self, (invocation) => sql(invocation, name, words, options)),
    );
  examples(
    command,
    'tandem context sql shop "select count(*) from orders"',
    "tandem context sql shop --csv --max-rows 10000 < report.sql > report.csv",
    'tandem context sql shop --estimate "select * from orders"',
  );
}

const MAX_ROWS = 100_000;
const MAX_BYTES = 64 * 1_024 * 1_024;
/** Longer cells would make the table unreadable on a terminal. */
const CELL = 60;

export interface SqlOptions {
  csv?: boolean;
  maxRows: string;
  estimate?: boolean;
}

/** Queries a database of the project, read-only. */
export async function sql(invocation: Invocation, name: string, words: string[], options: SqlOptions): Promise<void> {
  const maxRows = Number(options.maxRows);
  if (!Number.isInteger(maxRows) || maxRows < 1 || maxRows > MAX_ROWS) {
    throw new TandemError("usage", `--max-rows is ${JSON.stringify(options.maxRows)}.`, {
      fix: `Give a number from 1 to ${MAX_ROWS}.`,
    });
  }
  const project = await openProject(invocation);
  const query = words.length > 0 ? words.join(" ") : await readPrompt(invocation, [], `sql ${name}`);
  const { signal } = invocation;
  if (options.estimate) {
    const estimate = await (async () => {
      using _ = new Progress(invocation, "Asking …");
      await using connection = await openNamedConnection(invocation, project, name);
      return await connection.estimate(query, { signal });
    })();
    await write(
      invocation.stdout,
      invocation.json ? `${JSON.stringify(estimate, null, 2)}\n` : describeEstimate(estimate),
    );
    return;
  }
  const { rows, verdict } = await withKnowledge(invocation, "context sql", async ({ catalogue }) => {
    using _ = new Progress(invocation, "Asking …");
    await using connection = await openNamedConnection(invocation, project, name);
    const { judgeQuery, refuseUnsound } = await import("@tandem/context");
    const verdict = await judgeQuery({ catalogue, name, connection, sql: query, measures: true, signal });
    if (project.config.context.sql.verdict === "refuse") refuseUnsound(verdict);
    return { rows: await connection.query(query, { maxRows, maxBytes: MAX_BYTES, signal }), verdict };
  });
  if (invocation.json) await write(invocation.stdout, `${JSON.stringify({ ...rows, verdict }, null, 2)}\n`);
  else await write(invocation.stdout, options.csv ? asCsv(rows) : asTable(invocation, rows));
  if (invocation.json) return;
  const { warn } = styleFor(invocation.stderr);
  for (const { kind, message } of verdict.parts) {
    await write(invocation.stderr, `${warn(kind.replace("_", " "))}: ${printable(message)}\n`);
  }
  if (rows.truncated) {
    await write(invocation.stderr, `${warn(`Only the first ${rows.rows.length} rows are shown.`)} → --max-rows\n`);
  }
}

function describeEstimate({ rows, bytes, plan }: QueryEstimate): string {
  const count = (amount: number) => Math.round(amount).toLocaleString("en-US");
  const lines = [
    ...(rows === undefined ? [] : [`about ${count(rows)} rows`]),
    ...(bytes === undefined ? [] : [`about ${count(bytes)} bytes`]),
    printable(plan).trimEnd(),
  ];
  return `${lines.join("\n")}\n`;
}

function asTable({ stdout }: Invocation, { columns, rows }: Rows): string {
  const { bold, dim } = styleFor(stdout);
  const lines = table([columns.map((name) => bold(cell(name))), ...rows.map((row) => row.map((value) => cell(value)))]);
  return `${[...lines, dim(`${rows.length} ${rows.length === 1 ? "row" : "rows"}`)].join("\n")}\n`;
}

function cell(value: Value): string {
  const text = value === null ? "null" : printable(String(value)).replaceAll(/\s+/g, " ");
  return text.length > CELL ? `${text.slice(0, CELL - 1)}…` : text;
}

/** CSV by RFC 4180. Null is an empty field. */
const asCsv = ({ columns, rows }: Rows): string =>
  [columns, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("");

function field(value: Value): string {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
