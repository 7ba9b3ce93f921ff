import { expect, test } from "vitest";
import { z as zod } from "zod";
import { z } from "./zod.ts";

/** The same schemas by zod and by its lazy form. */
const both = <T>(make: (factories: typeof zod) => T): [T, T] => [make(zod), make(z as unknown as typeof zod)];

const person = ({ object, string, array, enum: oneOf, int }: typeof zod) => {
  const name = string().min(1).max(9).meta({ description: "The name." });
  return object({
    name,
    role: oneOf(["reader", "writer"]).default("reader"),
    age: int().positive().nullish(),
    get friends() {
      return array(name).optional();
    },
  }).meta({ id: "Person" });
};

test("parses, rejects and describes as zod does", () => {
  const [plain, lazy] = both(person);
  for (const value of [{ name: "Ada", age: 36 }, { name: "" }, { name: "Ada", friends: ["Bob", 1] }, 7]) {
    expect(lazy.safeParse(value)).toEqual(plain.safeParse(value));
  }
  expect(z.toJSONSchema(lazy)).toEqual(zod.toJSONSchema(plain));
  expect(lazy.meta()).toEqual({ id: "Person" });
});

test("takes part in unions, records, transforms and recursion", () => {
  const [plain, lazy] = both((factories) => {
    const { discriminatedUnion, lazy: deferred, literal, record, strictObject, string } = factories;
    const tree: zod.ZodType = strictObject({ type: literal("tree"), inner: deferred(() => tree).optional() });
    const leaf = strictObject({ type: literal("leaf"), of: record(string(), person(factories)) });
    return discriminatedUnion("type", [tree as never, leaf]).transform((value) => [value]);
  });
  for (const value of [
    { type: "tree", inner: { type: "tree" } },
    { type: "tree", inner: { type: "bush" } },
    { type: "leaf", of: { a: { name: "Ada" } } },
    { type: "leaf", of: { a: { name: "Ada", role: "editor" } } },
  ]) {
    expect(lazy.safeParse(value)).toEqual(plain.safeParse(value));
  }
});

test("shapes can be reused, and classes recognised", () => {
  const [plain, lazy] = both((factories) => factories.object({ ...person(factories).shape, id: factories.string() }));
  expect(lazy.parse({ name: "Ada", id: "1" })).toEqual(plain.parse({ name: "Ada", id: "1" }));
  expect(Object.keys(lazy.shape)).toEqual(Object.keys(plain.shape));
  expect(lazy).toBeInstanceOf(zod.ZodObject);
  expect(lazy.shape.role).toBeInstanceOf(zod.ZodDefault);
  expect(z.array(lazy)).not.toBeInstanceOf(zod.ZodObject);
});

test("a schema that is built already can be extended by lazy ones", () => {
  const [plain, lazy] = both((factories) => {
    const schema = person(factories);
    schema.parse({ name: "Ada" });
    return schema.partial().extend({ note: factories.string().optional() });
  });
  expect(z.toJSONSchema(lazy)).toEqual(zod.toJSONSchema(plain));
  // As a library with its own copy of zod's functions.
  expect(zod.toJSONSchema(lazy)).toEqual(zod.toJSONSchema(plain));
});

test("nothing is built before it is used", () => {
  let built = 0;
  const name = z.lazy(() => zod.string());
  const counted = z.object({
    name,
    get count() {
      built += 1;
      return z.int();
    },
  });
  const list = z.array(counted.optional()).max(2).meta({ id: "Counted" });
  expect(built).toBe(0);
  expect(list.parse([{ name: "a", count: 1 }, undefined])).toHaveLength(2);
  expect(built).toBeGreaterThan(0);
});
