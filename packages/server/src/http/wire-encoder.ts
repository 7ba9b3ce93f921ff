import { z } from "zod";

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Name;

/** The same value with the field names of the API. Keys of records are data and stay. */
export type Wire<Value> = Value extends readonly (infer Item)[]
  ? Wire<Item>[]
  : Value extends object
    ? string extends keyof Value
      ? Value
      : { [Name in keyof Value as Name extends string ? Snake<Name> : never]: Wire<Value[Name]> }
    : Value;

type Encode = (value: unknown) => unknown;

/**
 * Encodes values of a schema of the context, which has names in camel case, for the API, which has names with underscores.
 * Fields that the schema does not have are left out; unions are encoded unchanged. The schema is loaded with the first value: a
 * server without a context does not load its package.
 */
export function wireEncoder<Schema extends z.ZodType>(load: () => Promise<Schema>) {
  let encode: Encode | undefined;
  return async (value: unknown) => {
    encode ??= encoder(await load());
    return encode(value) as Wire<z.output<Schema>>;
  };
}

function encoder(schema: z.ZodType): Encode {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    const encode = encoder(schema.unwrap() as z.ZodType);
    return (value) => (value === undefined || value === null ? value : encode(value));
  }
  if (schema instanceof z.ZodArray) {
    const encode = encoder(schema.element as z.ZodType);
    return (value) => (value as unknown[]).map(encode);
  }
  if (schema instanceof z.ZodObject) return objectEncoder(schema);
  return (value) => value;
}

function objectEncoder({ shape }: z.ZodObject): Encode {
  const fields = Object.entries(shape).map(([name, field]) => ({
    name,
    wire: name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    encode: encoder(field as z.ZodType),
  }));
  return (value) => {
    const given = value as Record<string, unknown>;
    const present = fields.filter(({ name }) => given[name] !== undefined);
    return Object.fromEntries(present.map(({ name, wire, encode }) => [wire, encode(given[name])]));
  };
}
