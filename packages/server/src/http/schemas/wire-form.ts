import { z } from "zod";

/** A schema of the context, and its values, as the API has them: names with underscores. */
export interface WireForm {
  schema: z.ZodType;
  encode: (value: unknown) => unknown;
}

/** Keys of records are data, and unions are taken as they are. */
export function wireForm(schema: z.ZodType): WireForm {
  if (schema instanceof z.ZodOptional) return wrapped(schema.unwrap() as z.ZodType, (inner) => inner.optional());
  if (schema instanceof z.ZodNullable) return wrapped(schema.unwrap() as z.ZodType, (inner) => inner.nullable());
  if (schema instanceof z.ZodArray) {
    const { schema: inner, encode } = wireForm(schema.element as z.ZodType);
    return { schema: z.array(inner), encode: (value) => (value as unknown[]).map(encode) };
  }
  if (schema instanceof z.ZodObject) return objectForm(schema);
  return { schema, encode: (value) => value };
}

function wrapped(schema: z.ZodType, wrap: (inner: z.ZodType) => z.ZodType): WireForm {
  const { schema: inner, encode } = wireForm(schema);
  return { schema: wrap(inner), encode: (value) => (value === undefined || value === null ? value : encode(value)) };
}

function objectForm({ shape }: z.ZodObject): WireForm {
  const fields = Object.entries(shape).map(([name, field]) => ({
    name,
    wire: name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    ...wireForm(field as z.ZodType),
  }));
  return {
    schema: z.object(Object.fromEntries(fields.map(({ wire, schema }) => [wire, schema]))),
    encode: (value) => {
      const given = value as Record<string, unknown>;
      const said = fields.filter(({ name }) => given[name] !== undefined);
      return Object.fromEntries(said.map(({ name, wire, encode }) => [wire, encode(given[name])]));
    },
  };
}
