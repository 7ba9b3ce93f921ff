import { RequestError } from "@tandem/protocol";
import { z } from "zod";
import { describeIssues } from "./describe-issues.ts";

/** Older clients append these to every URL; they have no meaning here. */
const IGNORED = new Set(["beta"]);

/** Parses and validates a query. Lists are `name[]=a&name[]=b`; unknown parameters are refused. */
export function readQuery<Q extends z.ZodObject>(search: URLSearchParams, schema: Q): z.output<Q> {
  const raw = new Map<string, unknown>();
  for (const key of new Set(search.keys())) {
    if (IGNORED.has(key)) continue;
    const values = search.getAll(key);
    const name = key.endsWith("[]") ? key.slice(0, -2) : key;
    if (isList(schema, name)) {
      raw.set(name, [...((raw.get(name) as string[] | undefined) ?? []), ...values]);
    } else if (values.length > 1) {
      throw new RequestError("invalid_request", `The query parameter ${key} is there ${values.length} times.`);
    } else raw.set(key, values[0]);
  }
  const result = schema.safeParse(Object.fromEntries(raw));
  if (result.success) return result.data;
  throw new RequestError(
    "invalid_request",
    describeIssues(result.error.issues, { noun: "query parameter", known: Object.keys(schema.shape) }),
  );
}

function isList(schema: z.ZodObject, name: string): boolean {
  let field: unknown = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
  while (field instanceof z.ZodOptional || field instanceof z.ZodDefault) field = field.unwrap();
  return field instanceof z.ZodArray;
}
