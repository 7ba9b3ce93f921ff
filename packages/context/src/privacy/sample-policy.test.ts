import { configSchema, type SamplesConfig } from "@tandem/protocol";
import { describe, expect, test } from "vitest";
import { SamplePolicy } from "./sample-policy.ts";
import { storableProfile, storageOf } from "./storable-values.ts";
import { shapeOf } from "./value-shape.ts";

const at = (place: string) => {
  const [connection = "", schema = "", table = "", column = ""] = place.split(/[/.]/);
  return { connection, schema, table, column, type: "text" };
};
const modeOf = (samples: SamplesConfig, place: string) => new SamplePolicy(samples).modeOf(at(place)).mode;

describe("scan.samples", () => {
  test.each([
    ["a mode for everything", "none", "shop/main.orders.status", "none"],
    ["a connection before the default", { "*": "none", shop: "values" }, "shop/main.orders.status", "values"],
    [
      "a table before its connection",
      { shop: "none", "shop/main.ord*": "shapes" },
      "shop/main.orders.status",
      "shapes",
    ],
    [
      "a column before its table",
      { "*/*.*.status": "values", "shop/main.orders": "none" },
      "shop/main.orders.status",
      "values",
    ],
    [
      "the longer text of two patterns",
      { "*/*.*.sta*": "none", "*/*.*.status": "values" },
      "shop/main.orders.status",
      "values",
    ],
    [
      "the stricter of two equal patterns",
      { "*/*.*.statu?": "values", "*/*.*.?tatus": "none" },
      "shop/main.orders.status",
      "none",
    ],
    ["any case", { "shop/MAIN.Orders.STATUS": "none" }, "shop/main.orders.status", "none"],
    ["no pattern: values", { crm: "none" }, "shop/main.orders.status", "values"],
  ] as const)("%s", (_case, samples, place, expected) => {
    expect(modeOf(samples, place)).toBe(expected);
  });

  test.each([
    ["shop/", "a part of the pattern is empty"],
    ["orders.email", "the pattern names no connection"],
    ["shop/orders", "the pattern names no table"],
    ["shop/main.[ab]*", "no other wildcards than * and ?"],
  ])("refuses the pattern %s", (pattern, sentence) => {
    const issues = configSchema.safeParse({ scan: { samples: { [pattern]: "none" } } }).error?.issues;
    expect(issues?.[0]?.message).toContain(sentence);
  });

  test("finds patterns that match no column", () => {
    const policy = new SamplePolicy({ "shop/main.custmers": "none", "crm/a.b": "none", shop: "values" });
    expect(policy.unmatched("shop", [at("shop/main.customers.id")])).toEqual(["shop/main.custmers"]);
  });
});

describe("stored values", () => {
  const mails = {
    name: "mail",
    nulls: 0,
    distinct: 2,
    unique: true,
    min: "a.b@example.com",
    max: "c.d@example.org",
    lengths: [15, 15] as const,
    samples: ["Anna.Schmidt@example.com", "Karl.Otto@example.org"],
  };
  const stored = (samples: SamplesConfig, profile: typeof mails, place = "shop/main.customers.mail") =>
    storableProfile(profile, storageOf(new SamplePolicy(samples), at(place), profile.samples));

  test("are the shapes of personal data, without range and samples", () => {
    expect(stored("values", mails)).toEqual({
      name: "mail",
      nulls: 0,
      distinct: 2,
      unique: true,
      samples: [],
      stored: "shapes",
      personal: "e-mail address",
      shapes: ["Aaaa.Aaaa@aaaa.aaa"],
      lengths: [15, 15],
    });
  });

  test("are values of personal data if a person allows the column, but not if only its table", () => {
    expect(stored({ "shop/main.customers.mail": "values" }, mails)).toEqual(mails);
    expect(stored({ "shop/main.customers": "values" }, mails).stored).toBe("shapes");
  });

  test("are only counts with none", () => {
    const { lengths: _lengths, min: _min, max: _max, ...counts } = mails;
    expect(stored("none", mails)).toEqual({ ...counts, samples: [], stored: "none", personal: "e-mail address" });
  });

  test("leave out single values of free text with personal data", () => {
    const notes = {
      ...mails,
      name: "note",
      samples: ["Call later", "Great", "Write to anna@example.com", "Sold", "Ok"],
    };
    expect(stored("values", notes, "shop/main.orders.note").samples).toEqual(["Call later", "Great", "Sold", "Ok"]);
  });

  test.each([
    ["Anna.Schmidt@example.de", "Aaaa.Aaaa@aaaa.aa"],
    ["+49 (30) 123456", "+99 (99) 999999"],
    ["1985-03-12", "9999-99-99"],
    ["Müller-Lüdenscheidt", "Aaaa-Aaaa"],
    ["p§$ss", "a*aa"],
    ["東京", "aa"],
  ])("the shape of %s", (value, shape) => {
    expect(shapeOf(value)).toBe(shape);
  });
});
