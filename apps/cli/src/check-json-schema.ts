import { nearest } from "@tandem/protocol";
import { Ajv, type ErrorObject, type Options } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

type Schema = Readonly<Record<string, unknown>>;

const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));
const ANNOTATIONS = words(
  "$schema $id $comment title description default examples deprecated readOnly writeOnly $defs definitions",
);
/** Keywords that ajv supports and zod does not enforce. */
const UNSUPPORTED = words(
  "not if then else dependentSchemas dependentRequired dependencies unevaluatedItems unevaluatedProperties nullable id " +
    "contentMediaType contentEncoding contentSchema $async $vocabulary $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor",
);
const MAPS_OF_SCHEMAS = "properties patternProperties $defs definitions".split(" ");
const SCHEMAS = "items prefixItems additionalItems contains additionalProperties propertyNames anyOf oneOf allOf".split(
  " ",
);

/**
 * Lists the problems of a JSON Schema with their locations. The standard ignores unknown keywords. Here they are problems,
 * because a misspelt rule would not be enforced.
 */
export function checkJsonSchema(schema: unknown): string[] {
  if (typeof schema === "boolean") return [];
  if (!isSchema(schema)) return ["# must be a schema, that is an object"];
  const warnings: string[] = [];
  const options: Options = {
    allErrors: true,
    verbose: true,
    strictSchema: false,
    strictTuples: false,
    strictTypes: "log",
    strictRequired: "log",
    allowUnionTypes: true,
    logger: { log: () => undefined, error: () => undefined, warn: (message: string) => void warnings.push(message) },
  };
  const drafts = [new Ajv(options), new Ajv2020(options)] as const;
  const { $schema, ...own } = schema;
  const isDraft7 = $schema === undefined ? !("$defs" in own) : !JSON.stringify($schema).includes("2020-12");
  const ajv = drafts[isDraft7 ? 0 : 1];
  const keywords = drafts
    .flatMap(({ RULES }) => Object.keys(RULES.keywords))
    .filter((keyword) => !UNSUPPORTED.has(keyword));
  const problems = ajv.validateSchema(own) ? [] : describeErrors(ajv.errors ?? []);
  for (const [each, at] of subschemas(own, "#")) problems.push(...checkKeywords(each, at, keywords));
  if (problems.length > 0) return problems;
  try {
    ajv.compile(own);
  } catch {
    // An unknown reference. zod reports it when it converts the schema.
  }
  return warnings.flatMap((warning) => /^strict mode: (.*) \(strict\w+\)$/.exec(warning)?.[1] ?? []);
}

/** Yields the schema and its subschemas with their JSON pointers. */
function* subschemas(schema: Schema, at: string): Generator<[schema: Schema, at: string]> {
  yield [schema, at];
  for (const keyword of SCHEMAS) {
    const value = schema[keyword];
    if (isSchema(value)) yield* subschemas(value, `${at}/${keyword}`);
    else if (Array.isArray(value)) yield* children(value, `${at}/${keyword}`);
  }
  for (const keyword of MAPS_OF_SCHEMAS) {
    const value = schema[keyword];
    if (isSchema(value)) yield* children(value, `${at}/${keyword}`);
  }
}

function* children(schemas: object, at: string): Generator<[schema: Schema, at: string]> {
  for (const [name, schema] of Object.entries(schemas))
    if (isSchema(schema)) yield* subschemas(schema, `${at}/${name}`);
}

function checkKeywords(schema: Schema, at: string, known: readonly string[]): string[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const place = `${at}/${keyword}`;
    if (UNSUPPORTED.has(keyword)) return `${place} is not supported`;
    if (keyword === "$ref") return checkReference(schema, place);
    if (keyword === "pattern" && typeof value === "string" && !isRegularExpression(value)) {
      return `${place} is not a regular expression`;
    }
    if (ANNOTATIONS.has(keyword) || keyword.startsWith("x-") || known.includes(keyword)) return [];
    const meant = nearest(keyword, known);
    return `${place} is not a keyword${meant ? `; did you mean ${meant}?` : ""}`;
  });
}

function checkReference(schema: Schema, at: string): string[] {
  if (typeof schema["$ref"] !== "string" || !/^#(\/(\$defs|definitions)\/[^/]+)?$/.test(schema["$ref"])) {
    return [`${at} must point into this file: #/$defs/…`];
  }
  const beside = Object.keys(schema).find((keyword) => keyword !== "$ref" && !ANNOTATIONS.has(keyword));
  return beside ? [`${at} cannot be combined with ${beside}`] : [];
}

/** One line per location: the metaschema reports an error for each alternative of a value. */
function describeErrors(errors: readonly ErrorObject[]): string[] {
  const first = new Map(errors.toReversed().map((error) => [error.instancePath, error]));
  return [...first.values()].toReversed().map(({ instancePath, message, data, keyword, schema }) => {
    if (keyword !== "enum" || !Array.isArray(schema)) return `#${instancePath} ${message}`;
    const meant = typeof data === "string" ? nearest(data, schema.map(String)) : undefined;
    const hint = meant ? `did you mean ${meant}?` : `allowed are ${schema.join(", ")}`;
    return `#${instancePath} is ${JSON.stringify(data)}; ${hint}`;
  });
}

function isRegularExpression(text: string): boolean {
  try {
    return new RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
