import type { Json } from "../schemas/components.ts";

const WIDTH = 100;

/** Renders a JSON schema as a compact TypeScript-like shape. References become names. */
export function renderShape(schema: Json, indent = ""): string {
  const { $ref, anyOf, oneOf, allOf, enum: values, const: value, type } = schema;
  if (typeof $ref === "string") return $ref.slice($ref.lastIndexOf("/") + 1);
  if (value !== undefined) return JSON.stringify(value);
  if (Array.isArray(values)) return values.map((each) => JSON.stringify(each)).join(" | ");
  const options = (anyOf ?? oneOf) as Json[] | undefined;
  if (options) return union(options, indent);
  if (Array.isArray(allOf)) return (allOf as Json[]).map((each) => renderShape(each, indent)).join(" & ");
  if (Array.isArray(type)) return type.join(" | ");
  switch (type) {
    case "object":
      return renderObject(schema, indent);
    case "array":
      return renderArray(schema, indent);
    case "integer":
      return "integer";
    case "string":
      return schema["format"] === "binary" ? "file" : "string";
    case undefined:
      return "any";
    default:
      return String(type);
  }
}

/** Names of other shapes in a schema. */
export function referencesOf(schema: unknown): string[] {
  return [...JSON.stringify(schema).matchAll(/"\$ref":"[^"]*\/(\w+)"/g)].map(([, name]) => name!);
}

function union(options: readonly Json[], indent: string): string {
  const parts = [...new Set(options.map((each) => renderShape(each, `${indent}  `)))];
  const line = parts.join(" | ");
  if (line.length <= WIDTH && !line.includes("\n")) return line;
  return parts.map((part) => `\n${indent}  | ${part}`).join("");
}

function renderArray({ items }: Json, indent: string): string {
  const item = renderShape((items as Json | undefined) ?? {}, indent);
  return / \| | & |^\n/.test(item) ? `(${item})[]` : `${item}[]`;
}

function renderObject(schema: Json, indent: string): string {
  const {
    properties = {},
    required = [],
    additionalProperties,
  } = schema as {
    properties?: Record<string, Json>;
    required?: string[];
    additionalProperties?: boolean | Json;
  };
  const inner = `${indent}  `;
  const fields = Object.entries(properties).flatMap(([name, field]) => {
    const key = /^[\w$]+$/.test(name) ? name : JSON.stringify(name);
    const comment = remarkOf(field).map((line) => `${inner}// ${line}`);
    return [...comment, `${inner}${key}${required.includes(name) ? "" : "?"}: ${renderShape(field, inner)};`];
  });
  const rest =
    typeof additionalProperties === "object" && Object.keys(additionalProperties).length > 0
      ? renderShape(additionalProperties, inner)
      : undefined;
  if (fields.length === 0) return rest === undefined ? "object" : `{ [key: string]: ${rest} }`;
  const more = rest === undefined ? [] : [`${inner}[key: string]: ${rest};`];
  return ["{", ...fields, ...more, `${indent}}`].join("\n");
}

/** Description, default and limits. */
function remarkOf(field: Json): string[] {
  const { description, default: usual, maxLength, maximum, minimum, maxItems } = field;
  // The largest safe integer is no limit.
  const isLimit = (limit: unknown): limit is number => typeof limit === "number" && Math.abs(limit) < 2 ** 53 - 1;
  const limits = [
    usual !== undefined && `default ${JSON.stringify(usual)}`,
    isLimit(maxLength) && `at most ${maxLength} characters`,
    isLimit(maxItems) && `at most ${maxItems}`,
    isLimit(minimum) && minimum > 0 && `from ${minimum}`,
    isLimit(maximum) && `up to ${maximum}`,
  ].filter((part) => part !== false);
  return [
    ...(typeof description === "string" ? description.split("\n") : []),
    ...(limits.length > 0 ? [limits.join(", ")] : []),
  ];
}
