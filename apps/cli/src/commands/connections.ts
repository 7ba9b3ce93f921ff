import { type ConnectionConfig, TandemError } from "@tandem/protocol";
import { existsSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { openNamedConnection } from "@tandem/tandem/compose";
import {
  findConnection,
  guessDriver,
  openOrBegin,
  type Project,
  type ProjectPlace,
  shownPlace,
  shownUrl,
  writeEdits,
} from "@tandem/tandem/config";
import type { Context } from "../context.ts";
import { exitCodeOf } from "../exit-code.ts";
import { openProject } from "@tandem/tandem/project";
import { Progress } from "../progress.ts";
import { printable, styleFor, table, write } from "../terminal.ts";

const SECRET_PLACE = /^(env|file|command):/;

export interface AddOptions {
  driver?: ConnectionConfig["driver"];
  password?: string;
  schema?: string[];
  test: boolean;
}

export async function list(context: Context): Promise<void> {
  const { config } = await openProject(context);
  const connections = Object.entries(config.connections);
  if (context.json) {
    const entries = connections.map(([name, { url, ...connection }]) => ({
      ...{ name, ...connection },
      ...(url !== undefined && { url: shownUrl(url) }),
    }));
    await write(context.stdout, `${JSON.stringify({ connections: entries }, null, 2)}\n`);
    return;
  }
  const { bold, dim } = styleFor(context.stdout);
  if (connections.length === 0) {
    await write(context.stdout, `${dim("No connections. Add one: tandem connections add shop shop.sqlite")}\n`);
    return;
  }
  const rows = connections.map(([name, connection]) => [
    bold(name),
    connection.driver,
    printable(shownPlace(connection)),
    dim(printable(connection.schemas?.join(", ") ?? "")),
  ]);
  await write(context.stdout, `${table(rows).join("\n")}\n`);
}

type TestResult =
  | { name: string; ok: true; tables: number; views: number; milliseconds: number }
  | { name: string; ok: false; error: TandemError };

/** Opens connections, all or one, and counts what can be seen. The exit code is that of the first failure. */
export async function test(context: Context, name: string | undefined): Promise<number> {
  const project = await openProject(context);
  if (name !== undefined) findConnection(project, name);
  const names = name === undefined ? Object.keys(project.config.connections) : [name];
  if (names.length === 0) {
    throw new TandemError("not_found", `${project.shownFile} has no connections.`, {
      fix: "Add one: tandem connections add shop shop.sqlite",
    });
  }
  const results: TestResult[] = [];
  for (const each of names) results.push(await tryConnection(context, project, each));
  if (context.json) await write(context.stdout, `${JSON.stringify({ connections: results }, null, 2)}\n`);
  else await write(context.stdout, `${results.flatMap((result) => describeResult(context, result)).join("\n")}\n`);
  const failed = results.find((result) => !result.ok);
  return failed ? exitCodeOf(failed.error.code) : 0;
}

async function tryConnection(context: Context, project: Project, name: string): Promise<TestResult> {
  using _ = new Progress(context, `Opening ${name} …`);
  const started = Date.now();
  try {
    await using connection = await openNamedConnection(context, project, name);
    const tables = await connection.structure({ signal: context.signal });
    const views = tables.filter(({ type }) => type === "view").length;
    return { name, ok: true, tables: tables.length - views, views, milliseconds: Date.now() - started };
  } catch (error) {
    context.signal.throwIfAborted();
    // What the config itself lacks is not a connection's failure: it is said as any command says it.
    if (!(error instanceof TandemError) || error.code === "untrusted_folder") throw error;
    return { name, ok: false, error };
  }
}

function describeResult({ stdout }: Context, result: TestResult): string[] {
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

/** Writes a connection into tandem.yaml, which is made where there is none, and tries it. */
export async function add(context: Context, name: string, place: string, options: AddOptions): Promise<number> {
  const project = await openOrBegin(context);
  if (Object.hasOwn(project.config.connections, name)) {
    throw new TandemError("usage", `There is a connection ${name} already.`, {
      fix: `Choose another name, or remove it first: tandem connections remove ${name}`,
    });
  }
  const connection = await toConnection(context, project, place, options);
  const edits = Object.entries(connection).map(([key, value]) => ({ path: `connections.${name}.${key}`, value }));
  const edited = await writeEdits(context, project, edits);
  const added = { file: project.file, name, ...connection };
  const tested = options.test ? await tryConnection(context, { ...project, ...edited }, name) : undefined;
  if (context.json) {
    await write(context.stdout, `${JSON.stringify({ added, ...(tested && { test: tested }) }, null, 2)}\n`);
  } else {
    const lines = [
      `${project.shownFile}: ${name} added.`,
      ...(tested ? describeResult(context, tested) : []),
      ...(tested?.ok ? [styleFor(context.stdout).dim(`Read it: tandem scan ${name}`)] : []),
    ];
    await write(context.stdout, `${lines.join("\n")}\n`);
  }
  return tested?.ok === false ? exitCodeOf(tested.error.code) : 0;
}

export async function remove(context: Context, name: string): Promise<void> {
  const project = await openProject(context);
  findConnection(project, name);
  await writeEdits(context, project, [{ path: `connections.${name}`, value: undefined }]);
  const catalogue = join(project.config.context.folder, "catalogue", name);
  const stays = existsSync(resolve(project.folder, catalogue));
  if (context.json) {
    await write(context.stdout, `${JSON.stringify({ file: project.file, removed: name }, null, 2)}\n`);
    return;
  }
  const note = stays ? ` What is known of it stays in ${catalogue}${sep}.` : "";
  await write(context.stdout, `${project.shownFile}: ${name} removed.${note}\n`);
}

async function toConnection(context: Context, project: ProjectPlace, place: string, options: AddOptions) {
  const { password, schema: schemas } = options;
  const isSecret = SECRET_PLACE.test(place);
  const file = resolve(context.cwd, place);
  const driver = options.driver ?? (isSecret ? undefined : await guessDriver(place, file));
  if (driver === undefined) {
    throw new TandemError("usage", "It cannot be told what kind of database that is.", {
      fix: "Say it with --driver sqlite, postgres, duckdb or mysql.",
    });
  }
  if (driver === "sqlite" || driver === "duckdb") {
    // Paths in a config are relative to the config, wherever the command was started.
    return { driver, path: isAbsolute(place) ? place : toPosix(relative(project.folder, file)) };
  }
  return { driver, url: place, ...(password && { password }), ...(schemas && { schemas }) };
}

const toPosix = (path: string): string => path.replaceAll(sep, "/");
const plural = (count: number, word: string): string =>
  `${count.toLocaleString("en-US")} ${word}${count === 1 ? "" : "s"}`;
