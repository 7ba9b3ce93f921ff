import type { Dialect } from "@tandem/connectors";
import { describe, expect, test } from "vitest";
import { SHOP_TABLES } from "../testing/shop.ts";
import { judgeSql } from "./judge-sql.ts";
import { REPEATED, SOUND } from "./testing/statements.ts";

const DIALECTS: readonly Dialect[] = ["sqlite", "duckdb", "postgres", "mysql"];
const listed = (text: string): [Dialect, string][] =>
  text
    .trim()
    .split("\n")
    .flatMap((line) => {
      const match = /^\[([a-z ]+)\] (.*)$/.exec(line);
      const dialects = match ? (match[1]!.split(" ") as Dialect[]) : DIALECTS;
      return dialects.map((dialect): [Dialect, string] => [dialect, match?.[2] ?? line]);
    });
const judge = (dialect: Dialect, sql: string) => judgeSql(sql, dialect, async () => SHOP_TABLES);

describe("a statement whose aggregate repeats rows", () => {
  test.each(listed(REPEATED))("%s: %s", async (dialect, sql) => {
    const { verdict, parts, reason } = await judge(dialect, sql);
    const doubts = parts.filter(({ kind }) => kind !== "lossy" && kind !== "deviates");
    expect(verdict === "not_judged" || doubts.length > 0, `${verdict} ${reason ?? ""}`).toBe(true);
  });
});

test("statements whose aggregates are right are not suspected, and nearly all are judged", async () => {
  const suspected: string[] = [];
  const open: string[] = [];
  const all = listed(SOUND);
  for (const [dialect, sql] of all) {
    const { verdict, parts, reason } = await judge(dialect, sql);
    if (verdict === "not_judged") open.push(`${dialect}: ${sql} ${reason ?? ""}`);
    else if (parts.some(({ kind }) => kind === "can_inflate" || kind === "inflated" || kind === "wrong_grain"))
      suspected.push(`${dialect}: ${sql} ${JSON.stringify(parts)}`);
  }
  expect(suspected).toEqual([]);
  expect(open.length / all.length, open.join("\n")).toBeLessThanOrEqual(0.03);
});

test("a function of one's own in the outermost list of columns does not matter", async () => {
  expect(await judge("postgres", "select id, my_function(status) from orders")).toMatchObject({ verdict: "proven" });
  expect(await judge("postgres", "select my_function(sum(id)) from orders")).toMatchObject({ verdict: "proven" });
});
