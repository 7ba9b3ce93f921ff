import { expect, test } from "vitest";
import { z } from "zod";
import { routeTable } from "../http/route-table.ts";
import { AFTER, methods, OWN_METHODS, pathNames, queryNames } from "./methods.ts";
import { stdioSchema } from "./stdio-schema.ts";

test("every route is a method, and no param is ambiguous", () => {
  const passed = new Set(["messages.create", "messages.countTokens"]);
  expect([...methods.keys()]).toEqual(routeTable.map(({ name }) => name).filter((name) => !passed.has(name)));
  expect(OWN_METHODS.filter((name) => methods.has(name))).toEqual([]);
  for (const route of routeTable) {
    const body = "body" in route && route.body !== undefined ? fieldsOf(route.body) : [];
    const file = route.kind === "upload" ? ["filename", "mime_type", "content"] : [];
    const stream = route.kind === "stream" ? [AFTER] : [];
    const names = [...pathNames(route), ...queryNames(route), ...new Set(body), ...file, ...stream];
    expect(names.toSorted(), route.name).toEqual([...new Set(names)].toSorted());
  }
});

test("the schema has every method, and every reference resolves", () => {
  const { $defs, ...root } = stdioSchema() as { $defs: Record<string, object> };
  for (const name of [...OWN_METHODS, ...methods.keys()]) {
    expect(Object.keys($defs)).toEqual(expect.arrayContaining([`Request.${name}`, `Result.${name}`]));
    expect($defs[`Result.${name}`], name).not.toEqual({});
  }
  const text = JSON.stringify({ $defs, ...root });
  const references = new Set([...text.matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/g)].map(([, name]) => name!));
  expect([...references].filter((name) => !(name in $defs))).toEqual([]);
  // No definition refers only to itself.
  for (const [name, definition] of Object.entries($defs)) expect(definition).not.toEqual({ $ref: `#/$defs/${name}` });
});

/** The field names of a body, in all its variants. */
function fieldsOf(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => fieldsOf(option as z.ZodType));
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return fieldsOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodPipe) return fieldsOf(schema.in as z.ZodType);
  throw new Error(`A body of another kind: ${schema.type}`);
}
