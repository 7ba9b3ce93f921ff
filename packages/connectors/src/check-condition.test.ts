import { expect, test } from "vitest";
import { checkCondition } from "./check-condition.ts";
import { enumLabels } from "./enum-labels.ts";
import { checksIn } from "./sqlite/sqlite-checks.ts";

test.each([
  ["((price > 0))", "price > 0"],
  ["((a > 0) OR (b > 0))", "(a > 0) OR (b > 0)"],
  ["(a > 0) OR (b > 0)", "(a > 0) OR (b > 0)"],
  ["(note <> ')')", "note <> ')'"],
  ["a\n  in (1, 2)", "a in (1, 2)"],
])("the condition %s is %s", (sql, condition) => expect(checkCondition(sql)).toBe(condition));

test("labels are read from the type", () => {
  expect(enumLabels("enum('it''s','b, c')")).toEqual(["it's", "b, c"]);
  expect(enumLabels("SET('x')")).toEqual(["x"]);
  expect(enumLabels("varchar(9)")).toBeUndefined();
});

test("checks of SQLite are read from its statement", () => {
  const sql = `CREATE TABLE "check" (-- check (no)
    id INTEGER, "check (a)" TEXT DEFAULT 'check (b)', /* check (c) */
    state TEXT CHECK(state IN ('open', 'it''s (done)')) NOT NULL,
    CONSTRAINT positive CHECK ((price) > (0)), checked INT)`;
  expect(checksIn(sql)).toEqual(["state IN ('open', 'it''s (done)')", "(price) > (0)"]);
});
