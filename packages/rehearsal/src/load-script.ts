import { readFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parse as parseYaml } from "yaml";
import { z } from "zod";
import { RehearsalError } from "./rehearsal-error.ts";
import { replayScript } from "./recording/replay-script.ts";
import { parseScript } from "./parse-script.ts";
import type { Script, ScriptEntry } from "./script.ts";

/**
 * Loads a script: a module (`.ts`, `.js`, `.mjs`) with a default export or `script`; a `.json` or `.yaml` list of entries (see
 * `parseScript`); or a recording (`.jsonl`).
 */
export async function loadScript(path: string): Promise<Script> {
  const full = resolve(path);
  switch (extname(full)) {
    case ".jsonl":
      return replayScript(full);
    case ".json":
      return readData(full, (text) => JSON.parse(text));
    case ".yaml":
    case ".yml":
      return readData(full, (text) => parseYaml(text));
    default:
      return importModule(full);
  }
}

async function readData(path: string, parse: (text: string) => unknown): Promise<Script> {
  try {
    return parseScript(parse(await readFile(path, "utf8")));
  } catch (error) {
    throw unreadable(path, error instanceof Error ? error.message : String(error), error);
  }
}

async function importModule(path: string): Promise<Script> {
  let module: unknown;
  try {
    module = await import(pathToFileURL(path).href);
  } catch (error) {
    throw unreadable(path, error instanceof Error ? error.message : String(error), error);
  }
  const { default: byDefault, script = byDefault } = z
    .looseObject({ default: z.unknown().optional(), script: z.unknown().optional() })
    .parse(module);
  const parsed = moduleScript.safeParse(script);
  if (!parsed.success) throw unreadable(path, "it exports no list of replies and no function", parsed.error);
  return parsed.data;
}

function unreadable(path: string, reason: string, cause: unknown): RehearsalError {
  const fix = "Export the script by default: a list of replies, or a function from a request to a reply.";
  return new RehearsalError("script_unreadable", `The script ${path} cannot be used: ${reason}`, fix, cause);
}

/** Only the outline of a module's script is validated. */
const moduleScript = z.custom<Script>(
  (value) => typeof value === "function" || (Array.isArray(value) && value.every((entry: unknown) => isEntry(entry))),
);

function isEntry(entry: unknown): entry is ScriptEntry {
  return typeof entry === "object" && entry !== null && "type" in entry && typeof entry.type === "string";
}
