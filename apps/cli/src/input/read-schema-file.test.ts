import { describe, expect, test } from "vitest";
import { toZod } from "./read-schema-file.ts";

describe("a usable schema", async () => {
  const schema = await toZod(
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      title: "Person",
      type: "object",
      properties: {
        name: { type: "string", minLength: 2 },
        born: { type: ["integer", "null"], minimum: 1000 },
        tags: { type: "array", items: { enum: ["a", "b"] }, uniqueItems: true },
        home: { $ref: "#/definitions/place" },
      },
      required: ["name"],
      additionalProperties: false,
      definitions: { place: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
    },
    "person.json",
  );

  test.each([{ name: "Ada" }, { name: "Ada", born: null, tags: ["a", "b"], home: { city: "London" } }])(
    "%j fits",
    (value) => expect(schema.parse(value)).toEqual(value),
  );

  test.each([
    {},
    { name: "A" },
    { name: "Ada", born: 12 },
    { name: "Ada", tags: ["c"] },
    { name: "Ada", tags: ["a", "a"] },
    { name: "Ada", home: {} },
    { name: "Ada", extra: 1 },
  ])("%j does not fit", (value) => expect(schema.safeParse(value).success).toBe(false));

  test.each([
    { type: "object", properties: { next: { $ref: "#/$defs/node" } }, $defs: { node: { type: "string" } } },
    { type: "object", properties: { next: { $ref: "#/definitions/node" } }, definitions: { node: { type: "string" } } },
  ])("references work with and without a version: %j", async (json) => {
    expect((await toZod(json, "x")).safeParse({ next: 1 }).success).toBe(false);
  });
});

describe("an unusable schema is one clear error", () => {
  test.each<[string, unknown]>([
    ['#/type is "objekt"; did you mean object?', { type: "objekt" }],
    ["does not describe an object at its root", { type: "array", items: { type: "string" } }],
    ["does not describe an object at its root", { anyOf: [{ type: "string" }, { type: "object" }] }],
    ["must be a schema", []],
    ["must be a schema", null],
    ["#/proprties is not a keyword; did you mean properties?", { type: "object", proprties: {} }],
    ["#/properties must be object", { type: "object", properties: 3 }],
    [
      "#/properties/a/pattern is not a regular expression",
      { type: "object", properties: { a: { type: "string", pattern: "(" } } },
    ],
    [
      'missing type "string" for keyword "minLength" at "#/properties/a"',
      { type: "object", properties: { a: { minLength: 2 } } },
    ],
    ['required property "b" is not defined at "#"', { type: "object", properties: { a: {} }, required: ["b"] }],
    ["#/required must be array", { type: "object", required: "a" }],
    ["#/if is not supported", { type: "object", if: {} }],
    ["must point into this file", { type: "object", properties: { a: { $ref: "https://example.com" } } }],
    ["Reference not found", { type: "object", properties: { a: { $ref: "#/$defs/missing" } }, $defs: {} }],
    [
      "cannot be combined with minLength",
      { type: "object", properties: { a: { $ref: "#/$defs/b", minLength: 1 } }, $defs: { b: {} } },
    ],
  ])("%s", async (message, json) => {
    await expect(toZod(json, "x.json")).rejects.toThrow(
      expect.objectContaining({ code: "bad_schema", message: expect.stringContaining(message) }),
    );
  });

  test("reports all problems at once", async () => {
    await expect(
      toZod({ type: "object", properties: { a: { type: "text" }, b: { tpye: "string" } } }, "x.json"),
    ).rejects.toThrow(/#\/properties\/a\/type[^]*#\/properties\/b\/tpye/);
  });
});
