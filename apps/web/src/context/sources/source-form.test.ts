import { expect, test } from "vitest";
import {
  connectionBody,
  EMPTY_FORM,
  isComplete,
  nameProblem,
  passwordProblem,
  placeProblem,
  sourceBody,
  suggestName,
} from "./source-form.ts";

test("a password in an address is refused, with the place where it belongs", () => {
  for (const place of ["postgres://me:secret@host/db", "postgres://me@host/db?password=secret"]) {
    expect(placeProblem({ ...EMPTY_FORM, place })).toContain("environment variable or a file");
    expect(isComplete({ ...EMPTY_FORM, place })).toBe(false);
  }
  expect(placeProblem({ ...EMPTY_FORM, place: "postgres://me@host:5432/db" })).toBeUndefined();
  expect(placeProblem({ ...EMPTY_FORM, place: "env:SHOP_URL" })).toBeUndefined();
  expect(placeProblem({ ...EMPTY_FORM, kind: "mysql", place: "postgres://me@host/db" })).toContain("mysql://");
});

test("a password is a reference, never its value", () => {
  const form = { ...EMPTY_FORM, place: "postgres://me@host/db", passwordPlace: "env" as const };
  expect(isComplete(form)).toBe(false);
  expect(passwordProblem({ ...form, passwordName: "hunter-2!" })).toContain("not the password itself");
  const named = { ...form, passwordName: "SHOP_PASSWORD", schemas: "sales, stock" };
  expect(isComplete(named)).toBe(true);
  expect(connectionBody(named)).toEqual({
    driver: "postgres",
    url: "postgres://me@host/db",
    password: "env:SHOP_PASSWORD",
    schemas: ["sales", "stock"],
  });
});

test("files and folders need only a path", () => {
  expect(connectionBody({ ...EMPTY_FORM, kind: "sqlite", place: "sqlite:///srv/shop.db" })).toEqual({
    driver: "sqlite",
    path: "/srv/shop.db",
  });
  expect(sourceBody({ ...EMPTY_FORM, kind: "dbt", place: " analytics " })).toEqual({ type: "dbt", path: "analytics" });
});

test("a name is suggested from the address or path", () => {
  expect(suggestName({ place: "postgres://me@host:5432/Sales Data?sslmode=require" })).toBe("sales-data");
  expect(suggestName({ place: "data/2024_shop.sqlite" })).toBe("shop");
  expect(suggestName({ place: "docs/" })).toBe("docs");
  expect(nameProblem("2shop")).toBeDefined();
  expect(nameProblem("shop-2")).toBeUndefined();
});
