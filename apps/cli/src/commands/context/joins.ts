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
import { Progress } from "../../progress.ts";
import { printable, styleFor, table, write } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .argument("<database>", "a SQLite or DuckDB file, a postgres:// or mysql:// address, or a connection's name")
      .addOption(json())
      .action((where: string, _options: object, self: Command) =>
        runner(self, (invocation) => joins(invocation, where)),
      ),
    "tandem joins shop.sqlite",
    "tandem joins shop.sqlite --json | jq '.[] | select(.status == \"accepted\")'",
  );
}

/** Default schemas: their tables are shown without the schema name. */
const USUAL_SCHEMAS = new Set(["main", "public"]);

interface Found extends Findings {
  failures: ProfileFailure[];
  /** The display name of a table. */
  nameOf: (name: TableName) => string;
}

/** Finds joins in a database. Needs no project, config or model. */
export async function joins(invocation: Invocation, where: string): Promise<number> {
  const found = await (async () => {
    using progress = new Progress(invocation, "Opening …");
    await using connection = await open(invocation, where);
    return await find(invocation, connection, progress);
  })();
  const shown = found.relationships
    .filter(({ status }) => status !== "rejected")
    .toSorted((a, b) => Number(a.status === "review") - Number(b.status === "review"));
  if (invocation.json)
    await write(
      invocation.stdout,
      `${JSON.stringify(
        shown.map((each) => toJson(each, found)),
        null,
        2,
      )}\n`,
    );
  else await write(invocation.stdout, `${describe(invocation, shown, found).join("\n")}\n`);
  await reportFailures(invocation, found);
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
  if (!findProject(invocation.cwd, invocation.project)) throw notThere(name, ", and no tandem.yaml that could name it");
  return openNamedConnection(invocation, await openProject(invocation), name);
}

const notThere = (where: string, more: string): TandemError =>
  new TandemError("not_found", `There is no file ${JSON.stringify(where)}${more}.`, {
    fix: "Name a SQLite or DuckDB file, a postgres:// or mysql:// address, or a connection of tandem.yaml.",
  });

async function find(invocation: Invocation, connection: Connection, progress: Progress): Promise<Found> {
  const { findRelationships, profileTables } = await import("@tandem/relationships");
  const { signal } = invocation;
  progress.label("Reading the structure …");
  const tables = await connection.structure({ signal });
  const { profiles, failures } = await profileTables(
    connection,
    tables.filter(({ type }) => type === "table"),
    { signal, onProgress: (done, all) => progress.label(`Looking at tables: ${done} of ${all} …`) },
  );
  const findings = await findRelationships({
    connection,
    tables,
    profiles,
    signal,
    onProgress: (stage) => progress.label(`Comparing ${stage} …`),
  });
  const schemas = new Set(tables.map(({ schema }) => schema));
  const nameOf = ({ schema, name }: TableName) =>
    schemas.size <= 1 || USUAL_SCHEMAS.has(schema) ? name : `${schema}.${name}`;
  return { ...findings, failures, nameOf };
}

function toJson({ from, to, status, confidence, why }: Relationship, { nameOf }: Found) {
  return {
    from: { table: nameOf(from.table), columns: from.columns },
    to: { table: nameOf(to.table), columns: to.columns },
    status,
    confidence,
    why: why.join(" "),
  };
}

function describe(invocation: Invocation, shown: readonly Relationship[], { nameOf, unanswered }: Found): string[] {
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
  const left = unanswered > 0 ? `; ${unanswered} comparisons were left out` : "";
  return [...table(rows), dim(`${count}${left}.`)];
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
