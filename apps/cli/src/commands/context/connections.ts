import { type ConnectionConfig, TandemError } from "@tandem/protocol";
import { existsSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { openNamedConnection } from "@tandem/tandem/compose";
import {
  findConnection,
  guessDriver,
  openProjectToEdit,
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
import { printable, styleFor, table, write } from "../../terminal.ts";
import { type Command, Option } from "commander";
import { subcommandsOf, type Registration } from "../registration.ts";
import { DRIVER_CHOICES } from "../../option-choices.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  examples(
    sub("list", "List the connections of this project.")
      .addOption(json())
      .action((_options: object, self: Command) => runner(self, (invocation) => list(invocation))),
    "tandem connections list",
  );
  examples(
    sub("test", "Open a connection and count what can be seen.")
      .argument("[name]", "its name (default: all of them)")
      .addOption(json())
      .action((name: string | undefined, _options: object, self: Command) =>
        runner(self, (invocation) => test(invocation, name)),
      ),
    "tandem connections test shop",
  );
  examples(
    sub("add", "Write a connection into tandem.yaml, and try it.")
      .argument("<name>", "what it is to be called: small letters, digits, - and _")
      .argument("<place>", "a file, an address without a password, or where one is kept: env:NAME, file:…, command:…")
      .addOption(
        new Option("--driver <name>", "what kind of database it is, if that cannot be told").choices(DRIVER_CHOICES),
      )
      .option("--password <place>", "where the password is kept: env:NAME, file:path or command:…")
      .addOption(
        new Option("--schema <name>", "only this schema; may be given more than once").argParser(
          (name: string, all: string[] | undefined) => [...(all ?? []), name],
        ),
      )
      .option("--no-test", "do not try it")
      .addOption(json())
      .action((name: string, place: string, options: AddOptions, self: Command) =>
        runner(self, (invocation) => add(invocation, name, place, options)),
      ),
    "tandem connections add shop data/shop.sqlite",
    "tandem connections add crm postgres://reader@db.example/crm --password env:CRM_PASSWORD",
    "tandem connections add erp env:ERP_URL --driver mysql --schema sales --schema stock",
  );
  examples(
    sub("remove", "Take a connection out of tandem.yaml; what is known of it stays.")
      .argument("<name>", "its name")
      .addOption(json())
      .action((name: string, _options: object, self: Command) =>
        runner(self, (invocation) => remove(invocation, name)),
      ),
    "tandem connections remove shop",
  );
}

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
  if (invocation.json) {
    const entries = connections.map(([name, { url, ...connection }]) => ({
      name,
      ...connection,
      ...(url !== undefined && { url: redactUrl(url) }),
    }));
    await write(invocation.stdout, `${JSON.stringify({ connections: entries }, null, 2)}\n`);
    return;
  }
  const { bold, dim } = styleFor(invocation.stdout);
  if (connections.length === 0) {
    await write(invocation.stdout, `${dim("No connections. Add one: tandem connections add shop shop.sqlite")}\n`);
    return;
  }
  const rows = connections.map(([name, connection]) => [
    bold(name),
    connection.driver,
    printable(describeLocation(connection)),
    dim(printable(connection.schemas?.join(", ") ?? "")),
  ]);
  await write(invocation.stdout, `${table(rows).join("\n")}\n`);
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
  if (invocation.json) await write(invocation.stdout, `${JSON.stringify({ connections: results }, null, 2)}\n`);
  else
    await write(invocation.stdout, `${results.flatMap((result) => describeResult(invocation, result)).join("\n")}\n`);
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

/** Adds a connection to tandem.yaml, which is created if missing, and tests it. */
export async function add(invocation: Invocation, name: string, place: string, options: AddOptions): Promise<number> {
  const project = await openProjectToEdit(invocation);
  if (Object.hasOwn(project.config.connections, name)) {
    throw new TandemError("usage", `There is a connection ${name} already.`, {
      fix: `Choose another name, or remove it first: tandem connections remove ${name}`,
    });
  }
  const connection = await toConnection(invocation, project, place, options);
  const edits = Object.entries(connection).map(([key, value]) => ({ path: `connections.${name}.${key}`, value }));
  const edited = await writeEdits(invocation, project, edits);
  const added = { file: project.file, name, ...connection };
  const tested = options.test ? await tryConnection(invocation, { ...project, ...edited }, name) : undefined;
  if (invocation.json) {
    await write(invocation.stdout, `${JSON.stringify({ added, ...(tested && { test: tested }) }, null, 2)}\n`);
  } else {
    const lines = [
      `${project.displayPath}: ${name} added.`,
      ...(tested ? describeResult(invocation, tested) : []),
      ...(tested?.ok ? [styleFor(invocation.stdout).dim(`Read it: tandem scan ${name}`)] : []),
    ];
    await write(invocation.stdout, `${lines.join("\n")}\n`);
  }
  return tested?.ok === false ? exitCodeOf(tested.error.code) : 0;
}

export async function remove(invocation: Invocation, name: string): Promise<void> {
  const project = await openProject(invocation);
  findConnection(project, name);
  await writeEdits(invocation, project, [{ path: `connections.${name}`, value: undefined }]);
  const catalogue = join(project.config.context.folder, "catalogue", name);
  const stays = existsSync(resolve(project.folder, catalogue));
  if (invocation.json) {
    await write(invocation.stdout, `${JSON.stringify({ file: project.file, removed: name }, null, 2)}\n`);
    return;
  }
  const note = stays ? ` What is known of it stays in ${catalogue}${sep}.` : "";
  await write(invocation.stdout, `${project.displayPath}: ${name} removed.${note}\n`);
}

async function toConnection(invocation: Invocation, project: ProjectLocation, place: string, options: AddOptions) {
  const { password, schema: schemas } = options;
  const isSecret = SECRET_PLACE.test(place);
  const file = resolve(invocation.cwd, place);
  const driver = options.driver ?? (isSecret ? undefined : await guessDriver(place, file));
  if (driver === undefined) {
    throw new TandemError("usage", "It cannot be told what kind of database that is.", {
      fix: "Say it with --driver sqlite, postgres, duckdb or mysql.",
    });
  }
  if (driver === "sqlite" || driver === "duckdb") {
    // Paths in a config are relative to the config, not to the current folder.
    return { driver, path: isAbsolute(place) ? place : toPosix(relative(project.folder, file)) };
  }
  return { driver, url: place, ...(password && { password }), ...(schemas && { schemas }) };
}

const toPosix = (path: string): string => path.replaceAll(sep, "/");
const plural = (count: number, word: string): string =>
  `${count.toLocaleString("en-US")} ${word}${count === 1 ? "" : "s"}`;
