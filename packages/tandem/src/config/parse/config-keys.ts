import { configSchema, DURATION_FORMAT, HARMLESS, HARMLESS_VALUES, NEEDS_TRUST, SECRET_FORMAT } from "@tandem/protocol";
import { z } from "zod";
import type { ConfigValue } from "./config-value.ts";

/** Describes one config key for errors, docs, completion and trust. */
export interface ConfigKey {
  /** `llm.models.default`. User-chosen names appear as `<name>`: `connections.<name>.driver`. */
  path: string;
  description: string;
  /** A section contains keys. Every other type has a value. */
  type: "section" | "text" | "duration" | "secret" | "url" | "number" | "boolean" | "choice" | "list";
  allowed: readonly string[];
  /** As written in the file. Undefined if there is no default. */
  default: ConfigValue | undefined;
  /** The keys of each entry, for a list whose entries have keys. Their paths begin at the entry. */
  entryKeys: readonly ConfigKey[];
  isRequired: boolean;
  minimum: number | undefined;
  maximum: number | undefined;
  /** Exclusive minimum. */
  above: number | undefined;
  isWhole: boolean;
  needsTrust: boolean;
  /** Values that need no trust, besides the default. */
  harmlessValues: readonly string[];
  /** Why an untrusted folder may set it. Undefined if it needs trust. */
  harmless: string | undefined;
}

/** The subset of JSON Schema that our schema uses. */
const node = z.object({
  type: z.string().optional(),
  description: z.string().default(""),
  format: z.string().optional(),
  enum: z.array(z.string()).default([]),
  default: z
    .union([z.string(), z.number(), z.boolean(), z.array(z.string())])
    .optional()
    .catch(undefined),
  minimum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  maximum: z.number().optional(),
  [NEEDS_TRUST]: z.boolean().default(false),
  [HARMLESS_VALUES]: z.array(z.string()).default([]),
  [HARMLESS]: z.string().optional(),
  required: z.array(z.string()).default([]),
  get properties() {
    return z.record(z.string(), node).optional();
  },
  get items() {
    return node.optional();
  },
  /** Set for a section whose keys are user-chosen names. */
  get additionalProperties() {
    return z.union([node, z.boolean()]).optional();
  },
});
type Node = z.output<typeof node>;

export const configJsonSchema = () => ({
  ...z.toJSONSchema(configSchema, { io: "input", target: "draft-7" }),
  title: "tandem.yaml",
});

/** Placeholder for a user-chosen name in a path. */
const NAMED = "<name>";

const SECTIONS = Object.keys(configSchema.shape) as (keyof typeof configSchema.shape)[];
const keysBySection = new Map<string, readonly ConfigKey[]>();

/** A section with its settings. Describing all sections takes longer than most commands run. */
function keysOf(section: (typeof SECTIONS)[number]): readonly ConfigKey[] {
  const known = keysBySection.get(section);
  if (known) return known;
  const alone = z.strictObject({ [section]: configSchema.shape[section] });
  const keys = below(node.parse(z.toJSONSchema(alone, { io: "input", target: "draft-7" })), "");
  keysBySection.set(section, keys);
  return keys;
}

/** All sections and settings of `tandem.yaml`, in schema order. */
export const configKeys = (): readonly ConfigKey[] => SECTIONS.flatMap(keysOf);

export const configSettings = () => configKeys().filter(isSetting);

/** Finds a setting or section. The path may contain user-chosen names. */
export function configKey(path: string): ConfigKey | undefined {
  const section = SECTIONS.find((name) => name === path.split(".")[0]);
  return section && keysOf(section).find((key) => fits(key.path, path));
}

/**
 * Lists all settings of the sections in the file. `<name>` becomes each name in the file; settings without a chosen name are
 * left out.
 */
export function settingsFor(file: object): ConfigKey[] {
  return SECTIONS.filter((section) => section in file)
    .flatMap((section) => keysOf(section).filter(isSetting))
    .flatMap((key) => pathsIn(file, key.path.split(".")).map((path) => ({ ...key, path })));
}

const isSetting = ({ type }: ConfigKey): boolean => type !== "section";

/** The allowed keys of the section at `path`. The empty path is the file itself. */
export function namesIn(path: string): string[] {
  const depth = path === "" ? 0 : path.split(".").length;
  return configKeys().flatMap((key) => {
    const names = key.path.split(".");
    const name = names.pop()!;
    return names.length === depth && name !== NAMED && fits(names.join("."), path) ? [name] : [];
  });
}

function fits(pattern: string, path: string): boolean {
  const names = path.split(".");
  const expected = pattern.split(".");
  return names.length === expected.length && expected.every((name, at) => name === NAMED || name === names[at]);
}

function pathsIn(section: unknown, names: readonly string[]): string[] {
  const [name, ...rest] = names;
  if (name === undefined) return [""];
  const isSection = typeof section === "object" && section !== null && !Array.isArray(section);
  const children = isSection ? (section as Record<string, unknown>) : {};
  return (name === NAMED ? Object.keys(children) : [name]).flatMap((chosen) =>
    pathsIn(children[chosen], rest).map((path) => (path === "" ? chosen : `${chosen}.${path}`)),
  );
}

function below(parent: Node, prefix: string): ConfigKey[] {
  const named = typeof parent.additionalProperties === "object" ? { [NAMED]: parent.additionalProperties } : {};
  return Object.entries({ ...parent.properties, ...named }).flatMap(([name, child]) => {
    const path = prefix ? `${prefix}.${name}` : name;
    // A setting inherits the mark of its section. Trust prevails: no setting can exempt itself.
    const inherited = {
      ...child,
      [NEEDS_TRUST]: child[NEEDS_TRUST] || parent[NEEDS_TRUST] || child.format === SECRET_FORMAT,
      [HARMLESS]: child[HARMLESS] ?? parent[HARMLESS],
    };
    return [describe(inherited, path, parent.required.includes(name))].concat(below(inherited, path));
  });
}

function describe(node: Node, path: string, isRequired: boolean): ConfigKey {
  return {
    path,
    description: node.description,
    type: typeOf(node),
    allowed: node.enum,
    default: node.default,
    entryKeys: node.items ? below(node.items, "") : [],
    isRequired,
    minimum: node.minimum,
    // zod emits the largest safe integer if there is no limit.
    maximum: node.maximum === Number.MAX_SAFE_INTEGER ? undefined : node.maximum,
    above: node.exclusiveMinimum,
    isWhole: node.type === "integer",
    needsTrust: node[NEEDS_TRUST],
    harmlessValues: node[HARMLESS_VALUES],
    harmless: node[NEEDS_TRUST] ? undefined : node[HARMLESS],
  };
}

function typeOf(node: Node): ConfigKey["type"] {
  if (node.properties || typeof node.additionalProperties === "object") return "section";
  if (node.type === "array") return "list";
  if (node.enum.length > 0) return "choice";
  if (node.format === SECRET_FORMAT) return "secret";
  if (node.format === "uri") return "url";
  if (node.format === DURATION_FORMAT) return "duration";
  if (node.type === "integer" || node.type === "number") return "number";
  return node.type === "boolean" ? "boolean" : "text";
}
