import type { Rule } from "@tandem/protocol";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Edit, openProjectToEdit, type Project, writeEdits } from "@tandem/tandem/config";
import { confirm } from "../../input/confirm.ts";
import type { Invocation } from "../../invocation.ts";
import { fromClaude } from "../../import/from-claude.ts";
import { fromOpencode } from "../../import/from-opencode.ts";
import type { Imported } from "../../import/imported.ts";
import { listAll } from "@tandem/tandem/engine";
import { openClient } from "../../sessions/open-client.ts";
import { printable, styleFor, table, write, writeJson } from "../../terminal.ts";
import { type Command, Option } from "commander";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .addOption(new Option("--from <tool>", "only from this tool").choices(["claude", "opencode"]))
      .option("--dry-run", "only print what would be imported")
      .option("-y, --yes", "do not ask for confirmation")
      .addOption(json())
      .action(runner(importConfig)),
    "tandem import --dry-run",
    "tandem import --from claude",
  );
}

export interface ImportOptions {
  from?: "claude" | "opencode";
  dryRun?: boolean;
  yes?: boolean;
}

/** Imports the folder's settings for Claude Code or opencode. Keeps existing settings. */
export async function importConfig(invocation: Invocation, options: ImportOptions): Promise<number> {
  const project = await openProjectToEdit(invocation);
  const model = project.config.llm.models.default;
  const parts = [
    ...(options.from === "opencode" ? [] : [await fromClaude(project.folder, model)]),
    ...(options.from === "claude" ? [] : [await fromOpencode(project.folder, model)]),
  ];
  const found = withoutKnown(merge(parts), project, await knownAgents(invocation, project, parts));
  const { stdout, json } = invocation;
  const isNothing = isEmpty(found);
  if (!json) await write(stdout, `${describe(invocation, project, found).join("\n")}\n`);
  if (isNothing || options.dryRun) {
    if (json) await print(invocation, found, false);
    return 0;
  }
  // Ask first: the rules and programs of an untrusted folder would take effect.
  if (!options.yes) await confirm(invocation, "", "Import this?");
  // Trust the project as written.
  const written = { ...project, ...(await writeEdits(invocation, project, editsOf(found, project))) };
  for (const [name, text] of Object.entries(found.commands)) {
    const path = commandPath(project, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { flag: "wx" });
  }
  const made = await createAgents(invocation, written, found);
  if (json) await print(invocation, found, true);
  else await write(stdout, `${[`${project.displayPath} is written.`, ...made].join("\n")}\n`);
  return 0;
}

const DEFAULT_MODEL = "llm.models.default";

function merge(parts: readonly Imported[]): Imported {
  const model = parts.find((part) => part.model !== undefined)?.model;
  return {
    ...(model !== undefined && { model }),
    rules: parts.flatMap(({ rules }) => rules),
    mcpServers: Object.assign({}, ...parts.toReversed().map(({ mcpServers }) => mcpServers)),
    agents: parts.flatMap(({ agents }) => agents),
    commands: Object.assign({}, ...parts.map(({ commands }) => commands)),
    skipped: parts.flatMap(({ skipped }) => skipped),
    files: parts.flatMap(({ files }) => files),
  };
}

function withoutKnown(found: Imported, project: Project, agents: ReadonlySet<string>): Imported {
  const key = ({ tool, pattern, action }: Rule): string => JSON.stringify([tool, pattern, action]);
  const known = new Set(project.config.rules.map(key));
  const rules = [...new Map(found.rules.map((rule) => [key(rule), rule])).values()].filter(
    (rule) => !known.has(key(rule)),
  );
  const keep = <T>(entries: Record<string, T>, isThere: (name: string) => boolean): Record<string, T> =>
    Object.fromEntries(Object.entries(entries).filter(([name]) => !isThere(name)));
  const { model, ...rest } = found;
  return {
    ...rest,
    ...(model !== undefined && !project.settings.some(({ path }) => path === DEFAULT_MODEL) && { model }),
    rules,
    mcpServers: keep(found.mcpServers, (name) => Object.hasOwn(project.config.mcpServers, name)),
    agents: found.agents.filter(({ name }) => !agents.has(name)),
    commands: keep(found.commands, (name) => existsSync(commandPath(project, name))),
  };
}

const isEmpty = ({ rules, mcpServers, agents, commands, model }: Imported): boolean =>
  model === undefined &&
  rules.length + agents.length + Object.keys(mcpServers).length + Object.keys(commands).length === 0;

const commandPath = ({ folder }: Project, name: string): string =>
  join(folder, ".tandem", "commands", `${name.replaceAll(/[^\w:-]/g, "-").replaceAll(":", "/")}.md`);

function editsOf({ rules, mcpServers, model }: Imported, project: Project): Edit[] {
  const servers = Object.entries(mcpServers).flatMap(([name, { command, args, env = {}, url, headers = {} }]) => {
    const fields: [string, Edit["value"]][] = [
      ["command", command],
      ["args", args?.length ? args : undefined],
      ["url", url],
      ...Object.entries(env).map(([key, value]): [string, string] => [`env.${key}`, value]),
      ...Object.entries(headers).map(([key, value]): [string, string] => [`headers.${key}`, value]),
    ];
    return fields.flatMap(([field, value]) =>
      value === undefined ? [] : [{ path: `mcpServers.${name}.${field}`, value }],
    );
  });
  return [
    ...(model === undefined ? [] : [{ path: DEFAULT_MODEL, value: model }]),
    ...(rules.length > 0 ? [{ path: "rules", value: [...project.config.rules, ...rules] }] : []),
    ...servers,
  ];
}

async function knownAgents(invocation: Invocation, project: Project, parts: readonly Imported[]): Promise<Set<string>> {
  const known = new Set<string>();
  if (parts.every(({ agents }) => agents.length === 0)) return known;
  await using client = await openClient(invocation, project, { command: "tandem import" });
  for await (const { name } of listAll((query) => client.agents.list(query), { includeArchived: false }))
    known.add(name);
  return known;
}

async function createAgents(invocation: Invocation, project: Project, { agents }: Imported): Promise<string[]> {
  if (agents.length === 0) return [];
  await using client = await openClient(invocation, project, { command: "tandem import" });
  const lines: string[] = [];
  for (const params of agents) lines.push(`${(await client.agents.create(params)).id}  ${printable(params.name)}`);
  return lines;
}

function describe({ stdout }: Invocation, project: Project, found: Imported): string[] {
  const { bold, dim, warn } = styleFor(stdout);
  if (found.files.length === 0) return [`${project.folder} has no files of Claude Code or opencode.`];
  const section = (title: string, rows: string[][]): string[] => (rows.length > 0 ? [bold(title), ...table(rows)] : []);
  return [
    dim(`Read: ${found.files.join(", ")}`),
    ...(isEmpty(found) ? ["Nothing new to import."] : []),
    ...section("Model", found.model === undefined ? [] : [[`  ${DEFAULT_MODEL}`, printable(found.model)]]),
    ...section(
      "Rules",
      found.rules.map(({ tool, pattern, action }) => [
        `  ${action}`,
        printable(tool),
        printable(pattern ?? dim("every call")),
      ]),
    ),
    ...section(
      "MCP servers",
      Object.entries(found.mcpServers).map(([name, { command, args, url }]) => [
        `  ${name}`,
        printable(url ?? [command, ...(args ?? [])].join(" ")),
      ]),
    ),
    ...section(
      "Agents",
      found.agents.map(({ name, description }) => [`  ${printable(name)}`, dim(printable(description ?? ""))]),
    ),
    ...section(
      "Commands",
      Object.keys(found.commands).map((name) => [`  /${printable(name)}`]),
    ),
    ...section(
      "Skipped",
      found.skipped.map(({ what, why }) => [`  ${warn(printable(what))}`, dim(printable(why))]),
    ),
  ];
}

async function print({ stdout }: Invocation, found: Imported, written: boolean): Promise<void> {
  await writeJson(stdout, { ...found, written });
}
