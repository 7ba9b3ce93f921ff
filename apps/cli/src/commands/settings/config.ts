import { formatDuration, nearest, TandemError } from "@tandem/protocol";
import { existsSync } from "node:fs";
import { parse, stringify } from "yaml";
import {
  checkEdited,
  configJsonSchema,
  type ConfigKey,
  configKey,
  configKeys,
  type ConfigValue,
  editConfig,
  namesIn,
  type Project,
  readConfigFile,
  settingsFor,
  formatValue,
  trustFolder,
  untrustedSettings,
  writeFileAtomically,
} from "@tandem/tandem/config";
import type { Invocation } from "../../invocation.ts";
import { openCallProject, openProject } from "@tandem/tandem/project";
import { printable, styleFor, table, write, writeJson, writeResult } from "../../terminal.ts";
import type { Command } from "commander";
import { subcommandsOf, type Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  examples(
    sub("show", "Print every effective setting and its source.").addOption(json()).action(runner(show)),
    "tandem config show",
  );
  examples(
    sub("get", "Print one setting or section.")
      .argument("<key>", "such as llm.models.default")
      .addOption(json())
      .action(runner(get)),
    "tandem config get llm.models.default",
  );
  examples(
    sub("set", "Validate and change one setting. Comments and layout of the file are kept.")
      .argument("<key>", "such as llm.models.default")
      .argument("<value>", "the new value")
      .addOption(json())
      .action(runner(set)),
    "tandem config set llm.models.triage haiku",
    "tandem config set llm.limits.patience 10m",
  );
  examples(
    sub("unset", "Remove one setting, so that its default applies.")
      .argument("<key>", "such as llm.models.triage")
      .addOption(json())
      .action(runner((invocation, key: string) => set(invocation, key, undefined))),
    "tandem config unset llm.models.triage",
  );
  examples(
    sub("schema", "Print the JSON Schema of tandem.yaml.").action(runner(schema)),
    "tandem config schema > tandem.schema.json",
  );
}

/** Claude Code starts a process to list its models. */
const MODELS_MS = 10_000;

export async function schema({ stdout }: Invocation): Promise<void> {
  await writeJson(stdout, configJsonSchema());
}

export async function show(invocation: Invocation): Promise<void> {
  const project = await openCallProject(invocation);
  const settings = settingsFor(project.config).map((key) => {
    const set = project.settings.find(({ path }) => path === key.path);
    return { key: key.path, value: valueOf(project, key), line: set?.line };
  });
  const { dim, bold } = styleFor(invocation.stdout);
  const rows = settings.map(({ key, value, line }) =>
    line === undefined
      ? [dim(key), dim(value === undefined ? "–" : formatValue(value)), dim("default")]
      : [key, bold(printable(formatValue(value!))), `${project.displayPath}:${line}`],
  );
  await writeResult(invocation, { file: existsSync(project.file) ? project.file : null, settings }, table(rows));
}

export async function get(invocation: Invocation, path: string): Promise<void> {
  const key = requireKey(path);
  const project = await openCallProject(invocation);
  const value = key.type === "section" ? sectionOf(project, path) : valueOf(project, { ...key, path });
  if (invocation.json) await writeJson(invocation.stdout, { key: path, value: value ?? null });
  else if (value !== undefined) await write(invocation.stdout, `${stringify(value).trimEnd()}\n`);
}

/** Sets a value; `undefined` removes it. Writes nothing if the result would be invalid. */
export async function set(invocation: Invocation, path: string, text: string | undefined): Promise<void> {
  const key = requireKey(path);
  if (key.type === "section") {
    throw new TandemError("usage", `${path} is a section, not a setting.`, {
      fix: `Name one of its settings: ${namesIn(path)
        .map((name) => `${path}.${name}`)
        .join(", ")}.`,
    });
  }
  const before = await openProject(invocation);
  if (text !== undefined && path.startsWith("llm.models.")) await checkModelName(invocation, before, text);
  const source = await readConfigFile(before);
  const edited = editConfig(source, [{ path, value: text === undefined ? undefined : toValue(key, text) }]);
  const after = checkEdited(edited, before.displayPath);
  const changed = edited !== source;
  if (changed) await writeFileAtomically(before.file, edited);
  // A user's own edit of a trusted folder is trusted. An untrusted folder stays untrusted.
  if (changed && (await untrustedSettings(invocation.env, before.folder, before.settings)).length === 0) {
    await trustFolder(invocation.env, before.folder, after.settings);
  }
  await writeResult(invocation, { file: before.file, key: path, changed }, [
    `${before.displayPath}: ${path} ${changed ? "changed" : "is already set to that"}.`,
  ]);
}

/** Rejects a model that the backend does not offer. Warns if the backend's list cannot be read. */
async function checkModelName(invocation: Invocation, project: Project, model: string): Promise<void> {
  const { checkModel } = await import("@tandem/runtime");
  const { backend } = project.config.llm.provider;
  const named = backend === "none" ? "claude-code" : backend;
  const isKnownName = /\d/.test(model) || ["sonnet", "opus", "haiku"].includes(model);
  const wrong = checkModel(named, model);
  if (wrong) throw wrong;
  // Only an alias that Claude Code may or may not have needs its list.
  if (isKnownName) return;
  const { knownModels } = await import("@tandem/tandem/models");
  const known = await knownModels(invocation, withBackend(project, named), {
    refresh: false,
    deadlineMs: MODELS_MS,
  }).catch(() => undefined);
  const unknown = known?.from === "table" ? undefined : checkModel(named, model, known?.models);
  if (unknown) throw unknown;
  if (known === undefined || known.from === "table") {
    await write(invocation.stderr, `Could not check whether the backend offers ${printable(model)}.\n`);
  }
}

const withBackend = (project: Project, backend: Project["config"]["llm"]["provider"]["backend"]): Project => {
  const { config } = project;
  const llm = { ...config.llm, provider: { ...config.llm.provider, backend } };
  return { ...project, config: { ...config, llm } };
};

function requireKey(path: string): ConfigKey {
  const key = configKey(path);
  if (key) return key;
  const paths = configKeys().map((known) => known.path);
  const meant = nearest(path, paths) ?? paths.find((known) => known.endsWith(`.${path}`));
  throw new TandemError("usage", `Unknown setting ${printable(path)}.`, {
    fix: meant ? `Did you mean ${meant}?` : "List them all with `tandem config show`.",
  });
}

/** Converts text to the key's type. Text that does not fit stays text, and the schema rejects it. */
function toValue(key: ConfigKey, text: string): ConfigValue {
  if (key.type === "list") return toList(text);
  if (key.type === "boolean" && (text === "true" || text === "false")) return text === "true";
  if (key.type === "number" && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return text;
}

/** `a, b`, or a YAML list if an entry contains a comma: `["a, b"]`. */
function toList(text: string): string[] {
  if (!text.trimStart().startsWith("[")) {
    return text
      .split(",")
      .map((entry) => entry.trim())
      .filter(Boolean);
  }
  try {
    return parse(text) as string[];
  } catch {
    throw new TandemError("usage", `${text} is not a list.`, { fix: "Write it as a,b or as [a, b]." });
  }
}

function valueOf({ config }: Project, key: ConfigKey): ConfigValue | undefined {
  const value = key.path
    .split(".")
    .reduce<unknown>((section, name) => (section as Record<string, unknown> | undefined)?.[name], config);
  return key.type === "duration" ? formatDuration(value as number) : (value as ConfigValue | undefined);
}

function sectionOf(project: Project, path: string): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const key of settingsFor(project.config).filter((key) => key.path.startsWith(`${path}.`))) {
    const value = valueOf(project, key);
    if (value === undefined) continue;
    const names = key.path.slice(path.length + 1).split(".");
    const last = names.pop()!;
    const section = names.reduce((parent, name) => (parent[name] ??= {}) as Record<string, unknown>, root);
    section[last] = value;
  }
  return root;
}
