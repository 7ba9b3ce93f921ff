import { type ConnectionConfig, TandemError } from "@tandem/protocol";
import { existsSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { openNamedConnection } from "@tandem/tandem/compose";
import {
  findConnection,
  guessDriver,
  openProjectToEdit,
  previewEdits,
  type Project,
  type ProjectLocation,
  describeLocation,
  redactUrl,
  writeEdits,
} from "@tandem/tandem/config";
import type { Invocation } from "../../invocation.ts";
import { exitCodeOf } from "../../exit-code.ts";
import { openProject } from "@tandem/tandem/project";
import { Progress } from "../../progress.ts";
import { printable, styleFor, writeResult, writeTable } from "../../terminal.ts";
import { type Command, Option } from "commander";
import { collect, subcommandsOf, type Registration } from "../registration.ts";
import { DRIVER_CHOICES } from "../../option-choices.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  examples(
    sub("list", "List the connections of this project.").addOption(json()).action(runner(list)),
    "tandem connections list",
  );
  examples(
    sub("test", "Open connections and count their tables.")
      .argument("[name]", "name of the connection (default: all)")
      .addOption(json())
      .action(runner(test)),
    "tandem connections test shop",
  );
  examples(
    sub("add", "Test a connection and add it to tandem.yaml.")
      .argument("<name>", "name of the connection: lower-case letters, digits, - and _")
      .argument(
        "<place>",
        "a file, a URL without a password, or a secret reference to a URL: env:NAME, file:…, command:…",
      )
      .addOption(new Option("--driver <name>", "kind of database, if it cannot be detected").choices(DRIVER_CHOICES))
      .option("--password <place>", "secret reference to the password: env:NAME, file:path or command:…")
      .option("--schema <name>", "only this schema (repeatable)", collect)
      .option("--no-test", "add it without a test")
      .addOption(json())
      .action(runner(add)),
    "tandem connections add shop data/shop.sqlite",
    "tandem connections add shop sqlite:../data/shop",
    "tandem connections add crm postgres://reader@db.example/crm --password env:CRM_PASSWORD",
    "tandem connections add erp env:ERP_URL --driver mysql --schema sales --schema stock",
  );
  examples(
    sub("remove", "Remove a connection from tandem.yaml. Its catalogue is kept.")
      .argument("<name>", "name of the connection")
      .addOption(json())
      .action(runner(remove)),
    "tandem connections remove shop",
  );
}

/** `sqlite:shop.db`, `sqlite:///srv/shop.db`, `duckdb:shop.duckdb`. */
const FILE_PREFIX = /^(sqlite3?|duckdb):(?:\/\/)?(.+)$/i;
const SECRET_PLACE = /^(env|file|command):/;

export interface AddOptions {
  driver?: ConnectionConfig["driver"];
  password?: string;
  schema?: string[];
  test: boolean;
}

export async function list(invocation: Invocation): Promise<void> {
  const { config } = await openProject(invocation);
  const connections = Object.entries(config.connections);
  const entries = connections.map(([name, { url, ...connection }]) => ({
    name,
    ...connection,
    ...(url !== undefined && { url: redactUrl(url) }),
  }));
  const { bold, dim } = styleFor(invocation.stdout);
  const rows = connections.map(([name, connection]) => [
    bold(name),
    connection.driver,
    printable(describeLocation(connection)),
    dim(printable(connection.schemas?.join(", ") ?? "")),
  ]);
  const hint = "No connections. Add one: tandem connections add shop shop.sqlite";
  await writeTable(invocation, { connections: entries }, rows, hint);
}

type TestResult =
  | { name: string; ok: true; tables: number; views: number; milliseconds: number }
  | { name: string; ok: false; error: TandemError };

/** Opens one or all connections and counts their tables. Returns the exit code of the first failure. */
export async function test(invocation: Invocation, name: string | undefined): Promise<number> {
  const project = await openProject(invocation);
  if (name !== undefined) findConnection(project, name);
  const names = name === undefined ? Object.keys(project.config.connections) : [name];
  if (names.length === 0) {
    throw new TandemError("not_found", `${project.displayPath} has no connections.`, {
      fix: "Add one: tandem connections add shop shop.sqlite",
    });
  }
  const results: TestResult[] = [];
  for (const each of names) results.push(await tryConnection(invocation, project, each));
  const lines = results.flatMap((result) => describeResult(invocation, result));
  await writeResult(invocation, { connections: results }, lines);
  const failed = results.find((result) => !result.ok);
  return failed ? exitCodeOf(failed.error.code) : 0;
}

async function tryConnection(invocation: Invocation, project: Project, name: string): Promise<TestResult> {
  using _ = new Progress(invocation, `Opening ${name} …`);
  const started = Date.now();
  try {
    await using connection = await openNamedConnection(invocation, project, name);
    const tables = await connection.structure({ signal: invocation.signal });
    const views = tables.filter(({ type }) => type === "view").length;
    return { name, ok: true, tables: tables.length - views, views, milliseconds: Date.now() - started };
  } catch (error) {
    invocation.signal.throwIfAborted();
    // A config error is not a connection failure. Report it like any command does.
    if (!(error instanceof TandemError) || error.code === "untrusted_folder") throw error;
    return { name, ok: false, error };
  }
}

function describeResult({ stdout }: Invocation, result: TestResult): string[] {
  const { good, bad, dim } = styleFor(stdout);
  if (!result.ok) {
    const fix = result.error.fix && `  ${dim("→")} ${printable(result.error.fix)}`;
    return [`${bad("✗")} ${result.name}: ${printable(result.error.message)}`, ...(fix ? [fix] : [])];
  }
  const counts = [
    plural(result.tables, "table"),
    ...(result.views > 0 ? [plural(result.views, "view")] : []),
    `${result.milliseconds} ms`,
  ];
  return [`${good("✓")} ${result.name}: ${counts.join(", ")}`];
}

/** Tests a connection, then adds it to tandem.yaml, which is created if missing. */
export async function add(invocation: Invocation, name: string, place: string, options: AddOptions): Promise<number> {
  const project = await openProjectToEdit(invocation);
  if (Object.hasOwn(project.config.connections, name)) {
    throw new TandemError("usage", `The connection ${name} exists already.`, {
      fix: `Choose another name, or remove it first: tandem connections remove ${name}`,
    });
  }
  const connection = await toConnection(invocation, project, place, options);
  const edits = Object.entries(connection).map(([key, value]) => ({ path: `connections.${name}.${key}`, value }));
  const { config } = (await previewEdits(project, edits)).after;
  const tested = options.test ? await tryConnection(invocation, { ...project, config }, name) : undefined;
  const isFailed = tested?.ok === false;
  if (!isFailed) await writeEdits(invocation, project, edits);
  const added = isFailed ? null : { file: project.file, name, ...connection };
  const { dim } = styleFor(invocation.stdout);
  await writeResult(invocation, { added, ...(tested && { test: tested }) }, [
    ...(tested ? describeResult(invocation, tested) : []),
    isFailed
      ? `${project.displayPath} was not changed. ${dim("Add --no-test to save the connection anyway.")}`
      : `Added ${name} to ${project.displayPath}. ${dim(`Next: tandem context scan ${name}`)}`,
  ]);
  return isFailed ? exitCodeOf(tested.error.code) : 0;
}

export async function remove(invocation: Invocation, name: string): Promise<void> {
  const project = await openProject(invocation);
  findConnection(project, name);
  await writeEdits(invocation, project, [{ path: `connections.${name}`, value: undefined }]);
  const catalogue = join(project.config.context.folder, "catalogue", name);
  const stays = existsSync(resolve(project.folder, catalogue));
  const note = stays ? ` Its catalogue is kept in ${catalogue}${sep}.` : "";
  await writeResult(invocation, { file: project.file, removed: name }, [
    `${project.displayPath}: ${name} removed.${note}`,
  ]);
}

async function toConnection(invocation: Invocation, project: ProjectLocation, place: string, options: AddOptions) {
  const { password, schema: schemas } = options;
  const isSecret = SECRET_PLACE.test(place);
  const [, prefix, named = place] = FILE_PREFIX.exec(place) ?? [];
  const file = resolve(invocation.cwd, named);
  const driver =
    options.driver ??
    (prefix === undefined ? undefined : prefix.startsWith("sqlite") ? "sqlite" : "duckdb") ??
    (isSecret ? undefined : await guessDriver(place, file));
  if (driver === undefined) {
    throw new TandemError("usage", "The kind of database is unknown.", {
      fix: "Add --driver sqlite, postgres, duckdb or mysql.",
    });
  }
  if (driver === "sqlite" || driver === "duckdb") {
    // Paths in a config are relative to the config, not to the current folder.
    return { driver, path: isAbsolute(named) ? named : toPosix(relative(project.folder, file)) };
  }
  return { driver, url: place, ...(password && { password }), ...(schemas && { schemas }) };
}

const toPosix = (path: string): string => path.replaceAll(sep, "/");
const plural = (count: number, word: string): string =>
  `${count.toLocaleString("en-US")} ${word}${count === 1 ? "" : "s"}`;
