import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type StatementVerdict, TandemError } from "@tandem/protocol";
import type { QueryEstimate, Rows, Value } from "@tandem/connectors";
import type { Statement } from "@tandem/context";
import { loadContext, loadSessions } from "@tandem/tandem/compose";
import { localActor, openProject } from "@tandem/tandem/project";
import type { Command } from "commander";
import { EXIT_CODES } from "../../exit-code.ts";
import type { Invocation } from "../../invocation.ts";
import { Progress } from "../../progress.ts";
import { readPrompt } from "../../input/read-prompt.ts";
import { clip, styleFor, write, writeJson, printable, table } from "../../terminal.ts";
import { withKnowledge } from "../../with-knowledge.ts";
import { type Registration, subcommandsOf } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  command
    .argument("<connection>", "name of the connection")
    .argument("[query...]", "SQL statement (default: standard input)")
    .option("--csv", "print CSV")
    .option("--max-rows <number>", "maximum number of rows", "100")
    .option("--estimate", "print the estimated rows and the query plan without running the query")
    .addOption(json())
    .action(runner(sql));
  examples(
    command,
    'tandem sql shop "select count(*) from orders"',
    "tandem sql shop --csv --max-rows 10000 < report.sql > report.csv",
    'tandem sql shop --estimate "select * from orders"',
    "tandem sql check report.sql",
  );
  examples(
    subcommandsOf(command)("check", "Judge the statement of a file without running it.")
      .argument("<file>", "file with one SQL statement")
      .option("--connection <name>", "name of the connection (default: the only one)")
      .addOption(json())
      .action(runner(check)),
    "tandem sql check report.sql",
    "tandem sql check report.sql --connection shop --json",
  );
}

const MAX_ROWS = 100_000;
const MAX_BYTES = 64 * 1_024 * 1_024;
/** Verdicts with which `check` ends successfully. */
const HARMLESS = new Set(["proven", "lossy", "deviates"]);

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
  // An error of the config comes before one of the query.
  await openProject(invocation);
  const query = words.length > 0 ? words.join(" ") : await readPrompt(invocation, [], `sql ${name}`);
  const estimateOnly = options.estimate ?? false;
  const { estimate, verdict, ...rows } = await withKnowledge(invocation, "sql", async (knowledge, { store }) => {
    using _ = new Progress(invocation, "Asking …");
    const { auditStatement } = await loadContext();
    const { cleanNote } = await loadSessions();
    const statement: Statement = {
      connection: name,
      sql: query,
      estimate: estimateOnly ? "only" : "skip",
      limits: { maxRows, maxBytes: MAX_BYTES },
      signal: invocation.signal,
    };
    return auditStatement(
      { connection: name, sql: query, estimateOnly },
      async (details) => {
        await store.audit.append([cleanNote({ kind: "sql.run", actor: localActor(), details })]);
      },
      () => knowledge.runStatement(statement),
    );
  });
  if (estimate) {
    const text = invocation.json ? `${JSON.stringify(estimate, null, 2)}\n` : describeEstimate(estimate);
    return write(invocation.stdout, text);
  }
  if (invocation.json) return writeJson(invocation.stdout, { ...rows, verdict });
  await write(invocation.stdout, options.csv ? asCsv(rows) : asTable(invocation, rows));
  if (verdict.verdict !== "proven" && verdict.verdict !== "not_judged") {
    await writeVerdict(invocation.stderr, verdict);
  }
  if (rows.truncated) {
    const { warn } = styleFor(invocation.stderr);
    await write(invocation.stderr, `${warn(`Only the first ${rows.rows.length} rows are shown.`)} → --max-rows\n`);
  }
}

/** Judges the statement of a file. The database only plans it; 1 is returned if its numbers are wrong or can be. */
async function check(invocation: Invocation, file: string, options: { connection?: string }): Promise<number> {
  const project = await openProject(invocation);
  const [only, ...others] = Object.keys(project.config.connections);
  const name = options.connection ?? (others.length === 0 ? only : undefined);
  if (name === undefined) {
    throw new TandemError("usage", "The project has several connections.", { fix: "Name one with --connection." });
  }
  const text = await readFile(resolve(invocation.cwd, file), "utf8").catch((error: unknown) => {
    throw new TandemError("not_found", `${file} cannot be read.`, {
      cause: error,
      fix: "Name a file with one SQL statement.",
    });
  });
  const { verdict } = await withKnowledge(invocation, "sql check", (knowledge) =>
    // Text that the database refuses has no verdict.
    knowledge.runStatement(
      {
        connection: name,
        sql: text,
        estimate: "only",
        limits: { maxRows: 1, maxBytes: MAX_BYTES },
        signal: invocation.signal,
      },
      "warn",
    ),
  );
  if (invocation.json) await writeJson(invocation.stdout, verdict);
  else await writeVerdict(invocation.stdout, verdict);
  return HARMLESS.has(verdict.verdict) ? EXIT_CODES.ok.code : EXIT_CODES.failure.code;
}

/** Prints a verdict with its reasons and the statement that is right, if one is known. */
async function writeVerdict(
  stream: Invocation["stdout"],
  { verdict, parts, reason, instead, rewrite }: StatementVerdict,
): Promise<void> {
  const { good, warn, dim } = styleFor(stream);
  const lines = [
    ...(verdict === "proven" ? [`${good("proven")}: No aggregate counts a row twice.`] : []),
    ...(verdict === "not_judged" ? [`${warn("not judged")}: ${printable(reason ?? "")}`] : []),
    ...parts.map(({ kind, message }) => `${warn(kind.replace("_", " "))}: ${printable(message)}`),
    ...(instead ? [dim("The metric instead:"), `tandem metrics query ${metricArguments(instead)}`] : []),
    ...(rewrite === undefined ? [] : [dim("This counts each row once:"), printable(rewrite)]),
  ];
  await write(stream, `${lines.join("\n")}\n`);
}

const metricArguments = ({ metrics, by, where }: NonNullable<StatementVerdict["instead"]>): string =>
  [
    ...metrics,
    ...by.flatMap((field) => ["--by", field]),
    ...where.flatMap((filter) =>
      "op" in filter && "value" in filter ? ["--where", quoted(`${filter.field} ${filter.op} ${filter.value}`)] : [],
    ),
  ].join(" ");

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Longer cells would make the table unreadable on a terminal. */
const CELL = 60;

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
  return clip(text, CELL);
}

/** CSV by RFC 4180. Null is an empty field. */
const asCsv = ({ columns, rows }: Rows): string =>
  [columns, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("");

function field(value: Value): string {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
