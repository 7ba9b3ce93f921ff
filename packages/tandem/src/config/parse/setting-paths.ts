import { configSchema } from "@tandem/protocol";
import { z } from "zod";

/**
 * The paths of the settings in a valid file, in schema order. They are those of `settingsFor`, without the descriptions, which
 * take longer than the rest of most commands.
 */
export const settingPaths = (file: unknown): string[] =>
  belowShape(configSchema.shape, file).map((names) => names.join("."));

/** Without the schemas of sections that the file does not have. */
function belowShape(shape: Readonly<Record<string, z.core.$ZodType>>, value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [];
  const given = new Map(Object.entries(value));
  return Object.entries(shape)
    .filter(([name]) => given.get(name) !== undefined)
    .flatMap(([name, part]) => below(part, given.get(name)).map((names) => [name, ...names]));
}

function below(schema: z.core.$ZodType, value: unknown): string[][] {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject) return belowShape(inner.shape, value);
  if (!(inner instanceof z.ZodRecord)) return [[]];
  if (typeof value !== "object" || value === null) return [];
  return belowShape(Object.fromEntries(Object.keys(value).map((name) => [name, inner.valueType])), value);
}

/** The schema of the value as it is written in the file. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return unwrap(schema.def.innerType);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return unwrap(schema.def.innerType);
  return schema instanceof z.ZodPipe ? unwrap(schema.def.in) : schema;
}
