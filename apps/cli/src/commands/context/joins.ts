import type { Connection, TableName } from "@tandem/connectors";
import { TandemError } from "@tandem/protocol";
import type { Findings, ProfileFailure, Relationship } from "@tandem/relationships";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { openNamedConnection } from "@tandem/tandem/compose";
import { findProject, guessDriver } from "@tandem/tandem/config";
import type { Invocation } from "../../invocation.ts";
import { EXIT_CODES } from "../../exit-code.ts";
import { openProject } from "@tandem/tandem/project";
import { toLimit } from "../../number-options.ts";
import { Progress } from "../../progress.ts";
import { printable, styleFor, table, write, writeResult } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .argument("<database>", "a SQLite or DuckDB file, a postgres:// or mysql:// address, or a connection's name")
      .option("--max-pairs <n>", "compare the values of at most this many column pairs")
      .option("--max-queries <n>", "send at most this many queries")
      .option("--max-seconds <n>", "stop comparing after this time (default: 120)")
      .addOption(json())
      .action(runner(joins)),
    "tandem context joins shop.sqlite",
    "tandem context joins warehouse.duckdb --max-seconds 600",
    "tandem context joins shop.sqlite --json | jq '.[] | select(.status == \"accepted\")'",
  );
}

/** Default schemas: their tables are shown without the schema name. */
const USUAL_SCHEMAS = new Set(["main", "public"]);

interface Found extends Findings {
  failures: ProfileFailure[];
  /** The display name of a table. */
  nameOf: (name: TableName) => string;
}

interface Budgets {
  maxPairs?: string;
  maxQueries?: string;
  maxSeconds?: string;
}

/** Finds joins in a database. Needs no project, config or model. */
export async function joins(invocation: Invocation, where: string, budgets: Budgets = {}): Promise<number> {
  const found = await (async () => {
    using progress = new Progress(invocation, "Opening …");
    await using connection = await open(invocation, where);
    return await find(invocation, connection, progress, budgets);
  })();
  const shown = found.relationships
    .filter(({ status }) => status !== "rejected")
    .toSorted((a, b) => Number(a.status === "review") - Number(b.status === "review"));
  const value = shown.map((each) => toJson(each, found));
  await writeResult(invocation, value, describe(invocation, shown, found));
  await reportFailures(invocation, found);
  await reportNotCompared(invocation, found);
  return found.failures.length > 0 ? EXIT_CODES.failure.code : EXIT_CODES.ok.code;
}

/** Opens a file, an address or a connection of the project. */
async function open(invocation: Invocation, where: string): Promise<Connection> {
  const path = resolve(invocation.cwd, where);
  const driver = await guessDriver(where, path);
  if (driver === undefined && !existsSync(path)) return openNamed(invocation, where);
  const { openConnection } = await import("@tandem/connectors");
  if (driver === "postgres" || driver === "mysql") return openConnection({ driver, url: where });
  if (!existsSync(path)) throw notThere(where, "");
  return openConnection({ driver: driver ?? "sqlite", path });
}

async function openNamed(invocation: Invocation, name: string): Promise<Connection> {
  if (!findProject(invocation.cwd, invocation.project)) throw notThere(name, ", and no tandem.yaml with connections");
  return openNamedConnection(invocation, await openProject(invocation), name);
}

const notThere = (where: string, more: string): TandemError =>
  new TandemError("not_found", `There is no file ${JSON.stringify(where)}${more}.`, {
    fix: "Give a SQLite or DuckDB file, a postgres:// or mysql:// address, or a connection of tandem.yaml.",
  });

async function find(
  invocation: Invocation,
  connection: Connection,
  progress: Progress,
  { maxPairs, maxQueries, maxSeconds }: Budgets,
): Promise<Found> {
  const { findRelationships, profileTables } = await import("@tandem/relationships");
  const { signal } = invocation;
  progress.label("Reading the schema …");
  const tables = await connection.structure({ signal });
  const { profiles, failures } = await profileTables(
    connection,
    tables.filter(({ type }) => type === "table"),
    {
      signal,
      onProgress: (done, total) =>
        progress.step(`Reading tables: ${countOf(done, total)} …`, { stage: "profile", done, total }),
    },
  );
  const findings = await findRelationships({
    connection,
    tables,
    profiles,
    signal,
    options: {
      ...(maxPairs !== undefined && { pairs: toLimit("--max-pairs", maxPairs) }),
      ...(maxQueries !== undefined && { queries: toLimit("--max-queries", maxQueries) }),
      ...(maxSeconds !== undefined && { timeMs: toLimit("--max-seconds", maxSeconds) * 1_000 }),
    },
    onProgress: (step) => {
      const count = step.total === null ? "" : `: ${countOf(step.done, step.total)}`;
      progress.step(`Comparing ${step.stage}${count} …`, step);
    },
  });
  const schemas = new Set(tables.map(({ schema }) => schema));
  const nameOf = ({ schema, name }: TableName) =>
    schemas.size <= 1 || USUAL_SCHEMAS.has(schema) ? name : `${schema}.${name}`;
  return { ...findings, failures, nameOf };
}

const countOf = (done: number, total: number): string =>
  `${done.toLocaleString("en")} of ${total.toLocaleString("en")}`;

function toJson({ from, to, status, confidence, why }: Relationship, { nameOf }: Found) {
  return {
    from: { table: nameOf(from.table), columns: from.columns },
    to: { table: nameOf(to.table), columns: to.columns },
    status,
    confidence,
    why: why.join(" "),
  };
}

function describe(invocation: Invocation, shown: readonly Relationship[], { nameOf }: Found): string[] {
  const { bold, dim, good, warn } = styleFor(invocation.stdout);
  if (shown.length === 0) return [dim("No joins were found.")];
  const end = ({ table: name, columns }: Relationship["from"]) => printable(`${nameOf(name)}.${columns.join(", ")}`);
  const rows = shown.map(({ from, to, status, confidence, why }) => [
    status === "accepted" ? good("✓") : warn("?"),
    bold(end(from)),
    "→",
    bold(end(to)),
    confidence.toFixed(2),
    dim(printable(why.join(" "))),
  ]);
  const doubtful = shown.filter(({ status }) => status === "review").length;
  const count = `${shown.length - doubtful} accepted${doubtful > 0 ? `, ${doubtful} for review (?)` : ""}`;
  return [...table(rows), dim(`${count}.`)];
}

async function reportFailures({ json, stderr }: Invocation, { failures, nameOf }: Found): Promise<void> {
  const { warn } = styleFor(stderr);
  for (const { table: name, code, message } of failures) {
    const line = json
      ? JSON.stringify({ skipped: { table: nameOf(name), code, message } })
      : `${warn("skipped:")} ${printable(`${nameOf(name)}: ${message}`)}`;
    await write(stderr, `${line}\n`);
  }
}

const TABLES_SHOWN = 10;
const OPTION_OF = { pairs: "--max-pairs", queries: "--max-queries", seconds: "--max-seconds" };

/** Pairs that a budget or a failed query left out: a join among them may be missing from the result. */
async function reportNotCompared({ json, stderr }: Invocation, { notCompared, nameOf }: Found): Promise<void> {
  const { pairs, tables, budgets } = notCompared;
  if (pairs === 0) return;
  const names = tables.map(nameOf);
  if (json) return write(stderr, `${JSON.stringify({ not_compared: { pairs, tables: names, budgets } })}\n`);
  const { warn } = styleFor(stderr);
  const more = names.length > TABLES_SHOWN ? ` and ${names.length - TABLES_SHOWN} more` : "";
  const where = `${names.slice(0, TABLES_SHOWN).join(", ")}${more}`;
  const why =
    budgets.length > 0
      ? `The budget was used up. Raise ${budgets.map((budget) => OPTION_OF[budget]).join(" and ")} to compare them.`
      : "Their queries failed.";
  const count = `${pairs.toLocaleString("en")} ${pairs === 1 ? "pair" : "pairs"} of columns`;
  return write(stderr, `${warn("not compared:")} ${printable(`${count}, of ${where}. ${why}`)}\n`);
}
