import { configSchema } from "@tandem/protocol";
import { z } from "zod";

/**
 * The paths of the settings in a valid file, in schema order. They are those of `settingsFor`, without the descriptions, which
 * take longer than the rest of most commands.
 */
export const settingPaths = (file: unknown): string[] => below(configSchema, file).map((names) => names.join("."));

function below(schema: z.core.$ZodType, value: unknown): string[][] {
  const inner = unwrap(schema);
  if (!(inner instanceof z.ZodObject) && !(inner instanceof z.ZodRecord)) return [[]];
  if (typeof value !== "object" || value === null) return [];
  const given = new Map(Object.entries(value));
  const parts = inner instanceof z.ZodObject ? Object.entries<z.core.$ZodType>(inner.shape) : named(inner, given);
  return parts
    .filter(([name]) => given.get(name) !== undefined)
    .flatMap(([name, part]) => below(part, given.get(name)).map((names) => [name, ...names]));
}

const named = (record: z.ZodRecord, given: ReadonlyMap<string, unknown>): [string, z.core.$ZodType][] =>
  [...given.keys()].map((name) => [name, record.valueType]);

/** The schema of the value as it is written in the file. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return unwrap(schema.def.innerType);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return unwrap(schema.def.innerType);
  return schema instanceof z.ZodPipe ? unwrap(schema.def.in) : schema;
}
