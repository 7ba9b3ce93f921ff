import { configSchema, defaultSection, nearest, type Config } from "@tandem/protocol";
import { type Document, isMap, isScalar, LineCounter, parseDocument, type Node, type Pair } from "yaml";
import { z } from "zod";
import { ConfigError, type ConfigProblem } from "./config-error.ts";
import { configKey, type ConfigKey, configKeys, namesIn } from "./config-keys.ts";
import type { ConfigValue } from "./config-value.ts";
import { settingPaths } from "./setting-paths.ts";

/** A value set in the file, as opposed to a default. */
export interface Setting {
  path: string;
  value: ConfigValue;
  line: number;
}

export interface ParsedConfig {
  config: Config;
  settings: readonly Setting[];
}

/** Parses the text of a `tandem.yaml`. `file` is used in messages only. Throws one error with all problems. */
export function parseConfig(source: string, file: string): ParsedConfig {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false, logLevel: "error" });
  const at = (offset: number | undefined) => {
    const { line, col } = lines.linePos(offset ?? 0);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };

  const syntax = [...document.errors, ...document.warnings];
  if (syntax.length > 0) {
    throw new ConfigError(
      file,
      syntax.map(({ code, message, pos }) =>
        Object.assign(at(pos[0]), { key: "", message: syntaxMessage(code, message) }),
      ),
    );
  }
  const value = toValue(document, file);
  const result = parseSections(withoutEmptySections(value, ""));
  if (!result.success) {
    const problems = result.error.issues.flatMap((issue) =>
      explain(issue, value).map(({ keyPath, ...problem }) =>
        Object.assign(at(offsetOf(document, keyPath, issue.code !== "unrecognized_keys")), {
          key: keyPath.join("."),
          ...problem,
        }),
      ),
    );
    throw new ConfigError(
      file,
      problems.sort((a, b) => a.line - b.line || a.column - b.column),
    );
  }
  // Read the resolved value instead of the YAML nodes: an alias must not hide a setting from the trust check.
  const settings = settingPaths(value).flatMap((path) => {
    const keyPath = path.split(".");
    const set = valueAt(value, keyPath) as Setting["value"] | undefined;
    return set === undefined ? [] : [{ path, value: set, line: at(offsetOf(document, keyPath)).line }];
  });
  return { config: withDefaults(result.data), settings };
}

/** Parses the sections that the file has. */
function parseSections(value: unknown) {
  const given = Object.entries(configSchema.shape).filter(([name]) => isRecord(value) && Object.hasOwn(value, name));
  // A process parses it once: zod would take longer to generate faster code.
  return z.strictObject(Object.fromEntries(given)).safeParse(value, { jitless: true });
}

/** Fills in the defaults of the other sections when they are read: together they take longer than most commands run. */
function withDefaults(given: Readonly<Record<string, unknown>>): Config {
  const config = {};
  const define = (name: keyof Config, value: PropertyDescriptor) =>
    Object.defineProperty(config, name, { enumerable: true, configurable: true, ...value });
  for (const name of Object.keys(configSchema.shape) as (keyof Config)[]) {
    const keep = (value: unknown) => define(name, { value, writable: true });
    if (Object.hasOwn(given, name)) keep(given[name]);
    else define(name, { get: () => (keep(defaultSection(name)), Reflect.get(config, name)), set: keep });
  }
  return config as Config;
}

const syntaxMessage = (code: string, message: string) =>
  code === "MULTIPLE_DOCS" ? "a second document begins here; expected one" : `not valid YAML: ${lowerFirst(message)}`;

function toValue(document: Document, file: string): unknown {
  try {
    return document.toJS() ?? {};
  } catch (cause) {
    // The yaml package throws on aliases that expand without limit.
    const message = `not usable: ${lowerFirst((cause as Error).message)}`;
    throw new ConfigError(file, [{ line: 0, column: 0, key: "", message }]);
  }
}

/** A section whose keys are all commented out parses as null. Treat it as an empty section. */
function withoutEmptySections(value: unknown, path: string): unknown {
  if (value === null && (path === "" || configKey(path)?.type === "section")) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, withoutEmptySections(child, path ? `${path}.${key}` : key)]),
  );
}

type Explanation = Omit<ConfigProblem, "line" | "column" | "key"> & { keyPath: string[] };

function explain(issue: z.core.$ZodIssue, root: unknown): Explanation[] {
  const entry = explainEntry(issue);
  if (entry) return [entry];
  // An error inside a list is reported for the list's key.
  const keyPath = issue.path.filter((step) => typeof step !== "number").map(String);
  const path = keyPath.join(".");
  if (issue.code === "unrecognized_keys") {
    const names = namesIn(path);
    return issue.keys.map((name) => ({
      keyPath: [...keyPath, name],
      message: "unknown setting",
      nearest: nearest(name, names) ?? elsewhere(name),
      allowed: names,
    }));
  }
  const key = configKey(path);
  const value = valueAt(root, keyPath);
  if (issue.code === "invalid_key") return [{ keyPath, message: issue.issues[0]?.message ?? issue.message }];
  if (key?.type === "secret") return [{ keyPath, message: issue.message }];
  if (key?.type === "section" && issue.code === "custom") return [{ keyPath, message: issue.message }];
  if (path === "" || key?.type === "section") {
    return [{ keyPath, message: `expected a section, got ${show(value)}`, allowed: namesIn(path) }];
  }
  if (value === undefined) return [{ keyPath, message: "is missing", allowed: key?.allowed }];
  if (value === null) return [{ keyPath, message: "has no value; add one or remove the line" }];
  if (key?.type === "list" && !issue.message.startsWith("expected")) {
    const wrong = Array.isArray(value) ? value.find((item) => typeof item !== "string" || item === "") : value;
    return [{ keyPath, message: `expected a list of texts such as [a, b], got ${show(wrong)}` }];
  }
  if (issue.code === "invalid_value" && key) {
    return [
      {
        keyPath,
        message: `${show(value)} is not allowed`,
        nearest: nearest(typeof value === "string" ? value : "", key.allowed),
        allowed: key.allowed,
      },
    ];
  }
  if (key?.type === "number") return [{ keyPath, message: `expected ${range(key)}, got ${show(value)}` }];
  if (key?.type === "boolean") {
    return [{ keyPath, message: `expected true or false, got ${show(value)}`, allowed: ["true", "false"] }];
  }
  const quotes =
    typeof value === "number" || typeof value === "boolean" ? " (text that looks like this needs quotes)" : "";
  const expectation =
    issue.code === "invalid_type" && !issue.message.startsWith("expected") ? "expected a text" : issue.message;
  return [{ keyPath, message: `${expectation}, got ${show(value)}${key?.type === "duration" ? "" : quotes}` }];
}

/** Explains an error inside a list entry that is an object. */
function explainEntry(issue: z.core.$ZodIssue): Explanation | undefined {
  const place = issue.path.findIndex((step) => typeof step === "number");
  if (place === -1) return undefined;
  const field = issue.path.slice(place + 1).join(".");
  const unknown = issue.code === "unrecognized_keys" ? issue.keys : [];
  if (field === "" && unknown.length === 0 && issue.code !== "custom") return undefined;
  const what = unknown.length > 0 ? `unknown: ${unknown.join(", ")}` : lowerFirst(issue.message);
  return {
    keyPath: issue.path.slice(0, place).map(String),
    message: `entry ${Number(issue.path[place]) + 1}${field === "" ? "" : `, ${field}`}: ${what}`,
  };
}

/** Finds a setting of the same name in another section. */
const elsewhere = (name: string) => configKeys().find((key) => key.path.endsWith(`.${name}`))?.path;

export function range({ minimum, maximum, above, isWhole }: ConfigKey): string {
  const number = isWhole ? "a whole number" : "a number";
  if (minimum !== undefined && maximum !== undefined) return `${number} from ${minimum} to ${maximum}`;
  if (above !== undefined) return `${number} above ${above}`;
  return minimum === undefined ? number : `${number} from ${minimum} up`;
}

function show(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "a section";
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), root);
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** The offset of the value at `path`, or of its key. For a missing key, that of the nearest parent. */
function offsetOf(document: Document, path: readonly string[], preferValue = true): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const [depth, name] of path.entries()) {
    if (!isMap(node)) break;
    const pair: Pair | undefined = node.items.find((item) => String((item.key as Node).toJSON?.()) === name);
    if (!pair) break;
    offset = (pair.key as Node).range?.[0] ?? offset;
    node = pair.value;
    if (preferValue && depth === path.length - 1 && isScalar(node) && node.value !== null)
      offset = node.range?.[0] ?? offset;
  }
  return offset;
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);
