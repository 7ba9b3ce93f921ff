import { nearest } from "@tandem/protocol";

type Check = (value: unknown, at: string) => string[];

const wrong = (at: string, what: string): string[] => [`${at} ${what}`];
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const must =
  (test: (value: unknown) => boolean, what: string): Check =>
  (value, at) =>
    test(value) ? [] : wrong(at, `must be ${what}`);

const TYPES = ["object", "array", "string", "number", "integer", "boolean", "null"];

const anything: Check = () => [];
const text = must((value) => typeof value === "string", "a text");
const number = must((value) => typeof value === "number", "a number");
const count = must((value) => Number.isInteger(value) && (value as number) >= 0, "a whole number from 0 up");
const boolean = must((value) => typeof value === "boolean", "true or false");
const texts = must(
  (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
  "a list of texts",
);
const list = must((value) => Array.isArray(value) && value.length > 0, "a list with something in it");
const schema: Check = (value, at) => checkJsonSchema(value, at);
const schemas: Check = (value, at) =>
  Array.isArray(value) && value.length > 0
    ? value.flatMap((item, i) => checkJsonSchema(item, `${at}/${i}`))
    : wrong(at, "must be a list of schemas");
const namedSchemas: Check = (value, at) =>
  isRecord(value)
    ? Object.entries(value).flatMap(([name, item]) => checkJsonSchema(item, `${at}/${name}`))
    : wrong(at, "must be an object of schemas");
const items: Check = (value, at) => (Array.isArray(value) ? schemas(value, at) : schema(value, at));
const pattern: Check = (value, at) => {
  try {
    return typeof value === "string" && new RegExp(value, "u") ? [] : wrong(at, "must be a text");
  } catch {
    return wrong(at, "is not a regular expression");
  }
};
const types: Check = (value, at) => {
  const unknown = (Array.isArray(value) ? value : [value]).find((type) => !TYPES.includes(type as string));
  if (unknown === undefined) return [];
  const meant = typeof unknown === "string" ? nearest(unknown, TYPES) : undefined;
  return wrong(
    at,
    `is ${JSON.stringify(unknown)}; ${meant ? `did you mean ${meant}?` : `allowed are ${TYPES.join(", ")}`}`,
  );
};

const ANNOTATIONS: Record<string, Check> = {
  $schema: text,
  $id: text,
  $comment: text,
  title: text,
  description: text,
  default: anything,
  examples: list,
  deprecated: boolean,
  readOnly: boolean,
  writeOnly: boolean,
  $defs: namedSchemas,
  definitions: namedSchemas,
};

const FOR_ANY: Record<string, Check> = {
  ...ANNOTATIONS,
  type: types,
  enum: list,
  const: anything,
  anyOf: schemas,
  oneOf: schemas,
  allOf: schemas,
};

/** Keywords that mean nothing unless the type is given. */
const BY_TYPE: Record<string, Record<string, Check>> = {
  object: {
    properties: namedSchemas,
    required: texts,
    additionalProperties: schema,
    patternProperties: namedSchemas,
    propertyNames: schema,
    minProperties: count,
    maxProperties: count,
  },
  array: {
    items,
    prefixItems: schemas,
    additionalItems: schema,
    minItems: count,
    maxItems: count,
    uniqueItems: boolean,
    contains: schema,
    minContains: count,
    maxContains: count,
  },
  string: { minLength: count, maxLength: count, pattern, format: text },
  number: { minimum: number, maximum: number, exclusiveMinimum: number, exclusiveMaximum: number, multipleOf: number },
};

const UNSUPPORTED = new Set(
  "not if then else dependentSchemas dependentRequired dependencies unevaluatedItems unevaluatedProperties $dynamicRef".split(
    " ",
  ),
);

const KEYWORDS = [...Object.keys(FOR_ANY), ...Object.values(BY_TYPE).flatMap((group) => Object.keys(group)), "$ref"];

/**
 * What is wrong with a JSON Schema, each with its place. Stricter than the standard, which takes a misspelt keyword for a
 * remark: a rule that would not be enforced is a problem, too.
 */
export function checkJsonSchema(value: unknown, at = "#"): string[] {
  if (typeof value === "boolean") return [];
  if (!isRecord(value)) return wrong(at, "must be a schema, that is an object");
  const given = new Set([value["type"]].flat());
  const problems = Object.entries(value).flatMap(([keyword, content]) => {
    const place = `${at}/${keyword}`;
    if (keyword === "$ref") return checkReference(value, place);
    if (Object.hasOwn(FOR_ANY, keyword)) return FOR_ANY[keyword]!(content, place);
    const type = Object.keys(BY_TYPE).find((type) => Object.hasOwn(BY_TYPE[type]!, keyword));
    if (type) {
      const fits = given.has(type) || (type === "number" && given.has("integer"));
      return fits ? BY_TYPE[type]![keyword]!(content, place) : wrong(place, `needs "type": "${type}" beside it`);
    }
    if (UNSUPPORTED.has(keyword)) return wrong(place, "is not supported");
    if (keyword.startsWith("x-")) return [];
    const meant = nearest(keyword, KEYWORDS);
    return wrong(place, `is not a keyword${meant ? `; did you mean ${meant}?` : ""}`);
  });
  return [...problems, ...checkRequired(value, at)];
}

function checkReference(value: Record<string, unknown>, at: string): string[] {
  if (typeof value["$ref"] !== "string" || !/^#(\/(\$defs|definitions)\/[^/]+)?$/.test(value["$ref"])) {
    return wrong(at, "must point into this file: #/$defs/…");
  }
  const beside = Object.keys(value).find((keyword) => keyword !== "$ref" && !Object.hasOwn(ANNOTATIONS, keyword));
  return beside ? wrong(at, `cannot stand beside ${beside}`) : [];
}

function checkRequired(value: Record<string, unknown>, at: string): string[] {
  const { required, properties } = value;
  if (!Array.isArray(required)) return [];
  const known = isRecord(properties) ? Object.keys(properties) : [];
  return required
    .filter((name) => typeof name === "string" && !known.includes(name))
    .map((name) => `${at}/required names ${JSON.stringify(name)}, which is not among the properties`);
}
