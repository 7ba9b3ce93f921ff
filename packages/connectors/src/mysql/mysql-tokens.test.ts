import { expect, it } from "vitest";
import { readTokens, writeTokens } from "./mysql-tokens.ts";

const rewritten = (sql: string, ...literals: string[]): string => writeTokens(readTokens(sql), literals);

it.each([
  ["select 1 -- a comment\n+ 2", "select 1 + 2"],
  ["select 1 # a comment", "select 1"],
  ["select 1--2", "select 1- -2"],
  ["select 1 /* a */ + /*+ hint */ 2", "select 1 + 2"],
  ["select '--', \"#\", `/*`", "select '--', \"#\", `/*`"],
  ["select 'a\\'b', 'a''b', \"a\"\"b\", `a``b`", "select 'a\\'b', 'a''b', \"a\"\"b\", `a``b`"],
  ["select größe from straße", "select größe from straße"],
])("%s is sent as %s", (sql, sent) => {
  expect(rewritten(sql)).toBe(sent);
});

it("inlines values only at parameters", () => {
  expect(rewritten("select ?, '?', `?`, ? -- ?", "1", "'x'")).toBe("select 1, '?', `?`, 'x'");
});

it.each([
  "select /*! 1 */ 2",
  "select /*!50000 1 */ 2",
  "select /*M! 1 */",
  "select 'a",
  'select "a\\"',
  "select `a",
  "/* a",
])("rejects %s", (sql) => {
  expect(() => readTokens(sql)).toThrow(/^The query (was refused|is not valid): /);
});
