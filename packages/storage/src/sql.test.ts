import { expect, test } from "vitest";
import { insert, join, list, sql, where } from "./sql-statement.ts";

test("keeps values out of the text, even in nested pieces", () => {
  const id = "'; drop table session; --";
  const conditions = where([sql`a = ${id}`, sql`b in ${list([1, 2])}`]);
  expect(sql`select * from t ${conditions} limit ${3}`).toEqual({
    parts: ["select * from t where a = ", " and b in (", ", ", ") limit ", ""],
    values: [id, 1, 2, 3],
  });
});

test("has one more part than values, for any composition", () => {
  for (const piece of [
    sql``,
    sql`${1}`,
    sql`${sql`${1}`}${sql`${2}`}`,
    join([], ", "),
    join([1, sql`x`, null], ", "),
    list([]),
    where([]),
    insert("t", [
      { a: 1, b: null },
      { a: 2, b: "x" },
    ]),
  ]) {
    expect(piece.parts).toHaveLength(piece.values.length + 1);
  }
});

test("inserts all rows in one statement", () => {
  const { parts, values } = insert("t", [
    { a: 1, b: "x" },
    { a: 2, b: "y" },
  ]);
  expect(parts.join("?")).toBe("insert into t (a, b) values (?, ?), (?, ?)");
  expect(values).toEqual([1, "x", 2, "y"]);
});
