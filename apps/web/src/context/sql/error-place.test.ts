import { expect, test } from "vitest";
import { errorPlace } from "./error-place.ts";

const at = (sql: string, message: string): string | undefined => {
  const place = errorPlace(sql, message);
  return place && `${place.line}:${place.column} ${sql.slice(place.from, place.to)}`;
};

test("finds the word that a database's message is about", () => {
  expect(at("select id\nfrom ordrs", 'The database says: relation "ordrs" does not exist. Look …')).toBe("2:6 ordrs");
  expect(at("select totl from orders", "The database says: no such column: totl. Look at the tables")).toBe("1:8 totl");
  expect(at("select * form orders", 'The database says: near "form": syntax error. Correct')).toBe("1:10 form");
  expect(at("select * form orders", 'syntax error at or near "form".')).toBe("1:10 form");
  expect(at("select 1,\n  from x", "near 'from x' at line 2.")).toBe("2:3 from");
  expect(at("select o.totl from orders o", "Unknown column 'o.totl' in 'SELECT'.")).toBe("1:8 o.totl");
  expect(at("select 1 from missing", "Table with name missing does not exist!")).toBe("1:15 missing");
});

test("does not guess between two occurrences, or without a name", () => {
  expect(at("select a, a from t", "no such column: a.")).toBeUndefined();
  expect(at("select 1", "The query did not end in time, and was cancelled.")).toBeUndefined();
});
