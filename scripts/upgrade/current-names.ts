import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { stdioSchema } from "@tandem/server";
import { openStore } from "@tandem/storage";
import { z } from "zod";
import { OLD_COMMANDS, OLD_OPTIONS } from "../../apps/cli/src/aliases.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const NO_PRODUCT = /\.test\.tsx?$|\.contract\.ts$|\/(testing|contract|faults)\//;

export type Names = Map<string, Set<string>>;

/**
 * The names that are stored or sent, by section, as this code has them. References under `docs/` are written from the code
 * and compared with it by other tests. `quoted` sections have no registry: a name counts while a source has it in quotes.
 */
export async function currentNames(quoted: Names): Promise<Names> {
  const sources = globSync("{packages,apps}/*/{src,bin}/**/*.{ts,tsx,mjs}", { cwd: ROOT })
    .filter((path) => !NO_PRODUCT.test(path))
    .map((path) => readFileSync(join(ROOT, path), "utf8"))
    .join("\n");
  const inSources = (pattern: RegExp): Set<string> => new Set([...sources.matchAll(pattern)].map(([, name]) => name!));
  const words = quotedWords(sources);
  return new Map([
    ["tandem.* names", inSources(/"(tandem\.[a-z][a-z_.]*)"/g)],
    ["variables", inSources(/\b(TANDEM_[A-Z][A-Z_]*)\b/g)],
    ["git refs", inSources(/["`](refs\/(?:tandem|checkpoints)[a-z/-]*)/g)],
    ["metrics", fromReference("metrics.md", /^\| `(\w+)` \|/gm)],
    ["config keys", configKeys()],
    ["commands and options", commands()],
    ["routes", fromReference("api.md", /^\| `([A-Z]+ \/\S+)` \|/gm)],
    ["tables and columns", await columns()],
    ["wire fields", wireFields()],
    ["event fields", eventFields()],
    ...[...quoted].map(([section, names]) => [section, new Set([...names].filter((name) => words.has(name)))] as const),
  ]);
}

const COMMENT = /^\s*(?:\/\/|\/?\*).*$/gm;
const IMPORTED = /\bfrom\s+"[^"\n]*"|\bimport\(?\s*"[^"\n]*"/g;

/** Whole strings of the sources, and the fixed parts of templates. Comments and the names of imported files do not count. */
export function quotedWords(sources: string): Set<string> {
  const words = new Set<string>();
  const code = sources.replaceAll(COMMENT, "").replaceAll(IMPORTED, "");
  for (const [, plain, template] of code.matchAll(/"([^"\\\n]*)"|`([^`\n]*)`/g)) {
    if (plain !== undefined) words.add(plain);
    else for (const part of template!.split(/\$\{[^}]*\}/)) words.add(part);
  }
  return words;
}

const reference = (name: string): string => readFileSync(join(ROOT, "docs", "reference", name), "utf8");

const fromReference = (name: string, pattern: RegExp): Set<string> =>
  new Set([...reference(name).matchAll(pattern)].map(([, found]) => found!));

function configKeys(): Set<string> {
  const keys = new Set<string>();
  for (const part of reference("configuration.md").split(/^## /m)) {
    const [, section] = /^`([\w.<>]+)`/.exec(part) ?? [];
    if (section === undefined) continue;
    keys.add(section);
    for (const [, key] of part.matchAll(/^\| `(\w+)` \|/gm)) keys.add(`${section}.${key}`);
  }
  return keys;
}

function commands(): Set<string> {
  const names = new Set<string>();
  for (const part of reference("cli.md").split(/^## /m)) {
    const command = /^`(tandem[^`]*)`/.exec(part)?.[1]?.replace(" help --all", "");
    if (command === undefined) continue;
    names.add(command);
    for (const [, options] of part.matchAll(/^ {2}(-[^\n]*?)(?: {2,}|$)/gm)) {
      for (const [option] of options!.matchAll(/--(?!help)[a-z][a-z0-9-]*/g)) names.add(`${command} ${option}`);
    }
  }
  // Old names are read as aliases for one version.
  for (const [from, to] of Object.entries(OLD_COMMANDS)) {
    for (const name of names) if (`${name} `.startsWith(`tandem ${to} `)) names.add(name.replace(to, from));
  }
  for (const [command, options] of Object.entries(OLD_OPTIONS)) {
    for (const option of Object.keys(options)) names.add(`tandem ${command} ${option}`);
  }
  return names;
}

async function columns(): Promise<Set<string>> {
  const folder = mkdtempSync(join(tmpdir(), "tandem-names-"));
  try {
    const path = join(folder, "tandem.db");
    await (await openStore(path))[Symbol.asyncDispose]();
    using database = new DatabaseSync(path);
    const rows = database
      .prepare(
        `select t.name || '.' || c.name as name from pragma_table_list t join pragma_table_info(t.name) c
         where t.schema = 'main' and t.type in ('table', 'virtual') and t.name not like 'sqlite%'`,
      )
      .all();
    return new Set(
      z
        .array(z.object({ name: z.string() }))
        .parse(rows)
        .map(({ name }) => name),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const schemas = (): Record<string, unknown> =>
  z.object({ $defs: z.record(z.string(), z.unknown()) }).parse(stdioSchema()).$defs;

/** Fields of the events and previews of a session's stream: `tandem.rewound conversation.from`. */
function eventFields(): Set<string> {
  const $defs = schemas();
  const fields = new Set<string>();
  const walk = (value: unknown, type: string | undefined, path: string, above: readonly unknown[]): void => {
    if (typeof value !== "object" || value === null || above.includes(value)) return;
    const within = [...above, value];
    if (Array.isArray(value)) return value.forEach((each) => walk(each, type, path, within));
    const schema = value as { $ref?: string; properties?: Record<string, { const?: string }> };
    if (schema.$ref !== undefined) return walk($defs[schema.$ref.split("/").at(-1)!], type, path, within);
    const name = type ?? schema.properties?.["type"]?.const;
    for (const [field, below] of Object.entries(schema.properties ?? {})) {
      fields.add(`${name} ${path}${field}`);
      walk(below, name, `${path}${field}.`, within);
    }
    const { properties: _, ...others } = schema;
    Object.values(others).forEach((each) => walk(each, type, path, within));
  };
  walk($defs["Event.sessions.events.stream"], undefined, "", []);
  return fields;
}

/**
 * Fields of everything that methods take, answer or stream, over HTTP as over stdio: `sessions created_at`. By the first
 * word of the method and without the names of schemas, which may change.
 */
function wireFields(): Set<string> {
  const $defs = schemas();
  const fields = new Set<string>();
  for (const [name, root] of Object.entries($defs)) {
    const [, resource] = /^(?:Request|Result|Event)\.(\w+)/.exec(name) ?? [];
    if (resource === undefined) continue;
    const seen = new Set<unknown>();
    const walk = (value: unknown): void => {
      if (typeof value !== "object" || value === null || seen.has(value)) return;
      seen.add(value);
      for (const [key, below] of Object.entries(value)) {
        if (key === "$ref") walk($defs[String(below).split("/").at(-1)!]);
        else if (key === "properties") {
          for (const [field, schema] of Object.entries(z.record(z.string(), z.unknown()).parse(below))) {
            fields.add(`${resource} ${field}`);
            walk(schema);
          }
        } else walk(below);
      }
    };
    walk(root);
  }
  return fields;
}
