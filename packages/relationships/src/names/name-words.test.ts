import { describe, expect, test } from "vitest";
import { likeness, wordsOf } from "./name-words.ts";

test("splits names at capitals, separators, digits and scripts", () => {
  expect(wordsOf("CustomerID")).toEqual(["customer", "id"]);
  expect(wordsOf("billing_address_id")).toEqual(["billing", "address", "id"]);
  expect(wordsOf("HTTPServerName2")).toEqual(["http", "server", "name", "2"]);
  expect(wordsOf("Order Details")).toEqual(["order", "details"]);
  expect(wordsOf("顧客ID")).toEqual(["顧客", "id"]);
  expect(wordsOf("Straßen-Schlüssel")).toEqual(["strassen", "schlussel"]);
  expect(wordsOf("код_клиента")).toEqual(["код", "клиента"]);
});

describe("likeness", () => {
  test.each([
    ["customer", "customers"],
    ["category", "categories"],
    ["kunde", "kunden"],
    ["cliente", "clientes"],
    ["person", "people"],
    ["musteri", "musteriler"],
    ["клиента", "клиенты"],
    ["bus", "buses"],
  ])("%s and %s are one word", (a, b) => {
    expect(likeness(a, b)).toBeGreaterThan(0.9);
    expect(likeness(b, a)).toBe(likeness(a, b));
  });

  test.each([
    ["dept", "department"],
    ["cust", "customers"],
    ["acct", "account"],
    ["mgr", "manager"],
    ["ctry", "country"],
    ["emp", "employee"],
  ])("%s is short for %s", (short, long) => {
    expect(likeness(short, long)).toBeGreaterThan(0.7);
    expect(likeness(short, long)).toBeLessThan(0.9);
  });

  test.each([
    ["state", "status"],
    ["county", "country"],
    ["order", "customer"],
    ["user", "usage"],
    ["顧客", "顧問"],
    ["store", "story"],
  ])("%s and %s are unrelated", (a, b) => {
    expect(likeness(a, b)).toBe(0);
  });
});
