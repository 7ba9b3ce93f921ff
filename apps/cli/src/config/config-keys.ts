import { configSchema, DURATION_FORMAT, NEEDS_TRUST, SECRET_FORMAT } from "@tandem/protocol";
import { z } from "zod";
import type { ConfigValue } from "./config-value.ts";

/** One line of the configuration, as everything that is not validation sees it: errors, docs, completion, trust. */
export interface ConfigKey {
  /** `llm.models.default`. */
  path: string;
  description: string;
  /** A section has keys below it; everything else has a value. */
  type: "section" | "text" | "duration" | "secret" | "url" | "number" | "boolean" | "choice" | "list";
  allowed: readonly string[];
  /** As one would write it in the file; undefined if it has none. */
  default: ConfigValue | undefined;
  minimum: number | undefined;
  maximum: number | undefined;
  needsTrust: boolean;
}

/** The part of JSON Schema that our own schema uses. */
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
  maximum: z.number().optional(),
  [NEEDS_TRUST]: z.boolean().default(false),
  get properties() {
    return z.record(z.string(), node).optional();
  },
});
type Node = z.output<typeof node>;

export const configJsonSchema = () => ({
  ...z.toJSONSchema(configSchema, { io: "input", target: "draft-7" }),
  title: "tandem.yaml",
});

let keys: readonly ConfigKey[] | undefined;

/** Every section and setting of `tandem.yaml`, in the order of the schema. */
export function configKeys(): readonly ConfigKey[] {
  keys ??= below(node.parse(configJsonSchema()), "");
  return keys;
}

export const configSettings = () => configKeys().filter((key) => key.type !== "section");

export const configKey = (path: string) => configKeys().find((key) => key.path === path);

/** The names that may stand in the section at `path` (the empty path is the file itself). */
export function namesIn(path: string): string[] {
  const prefix = path ? `${path}.` : "";
  return configKeys()
    .filter((key) => key.path.startsWith(prefix) && !key.path.slice(prefix.length).includes("."))
    .map((key) => key.path.slice(prefix.length));
}

function below(parent: Node, prefix: string): ConfigKey[] {
  return Object.entries(parent.properties ?? {}).flatMap(([name, child]) => {
    const path = prefix ? `${prefix}.${name}` : name;
    // What a section needs, each of its settings needs.
    const inherited = { ...child, [NEEDS_TRUST]: child[NEEDS_TRUST] || parent[NEEDS_TRUST] };
    return [describe(inherited, path)].concat(below(inherited, path));
  });
}

function describe(node: Node, path: string): ConfigKey {
  return {
    path,
    description: node.description,
    type: typeOf(node),
    allowed: node.enum,
    default: node.default,
    minimum: node.minimum,
    // zod writes the largest safe integer where there is no limit.
    maximum: node.maximum === Number.MAX_SAFE_INTEGER ? undefined : node.maximum,
    needsTrust: node[NEEDS_TRUST],
  };
}

function typeOf(node: Node): ConfigKey["type"] {
  if (node.properties) return "section";
  if (node.type === "array") return "list";
  if (node.enum.length > 0) return "choice";
  if (node.format === SECRET_FORMAT) return "secret";
  if (node.format === "uri") return "url";
  if (node.format === DURATION_FORMAT) return "duration";
  if (node.type === "integer" || node.type === "number") return "number";
  return node.type === "boolean" ? "boolean" : "text";
}
