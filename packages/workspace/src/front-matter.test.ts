import { expect, test } from "vitest";
import { parseFrontMatter, splitFrontMatter } from "./front-matter.ts";

test.each([
  ["---\nname: a\n---\nBody", { name: "a" }, "Body"],
  ["\uFEFF---\r\nname: a\r\n--- \r\n\r\nBody\r\n", { name: "a" }, "Body"],
  ["---\n---\nBody", {}, "Body"],
  ["---\n# only a comment\n---\n", {}, ""],
  ["---\nrange: a---b\n---\nBody", { range: "a---b" }, "Body"],
  ["Body\n---\nname: a\n---\n", {}, "Body\n---\nname: a\n---"],
  ["---\nname: a\n", {}, "---\nname: a"],
])("%j is read", (text, head, body) => {
  expect(parseFrontMatter(text)).toEqual({ head, body });
});

test.each(["---\n- a\n---\n", "---\na: [\n---\n"])("a head that is no mapping is refused: %j", (text) => {
  expect(() => parseFrontMatter(text)).toThrow(/expected record|Flow sequence/);
});

test("the body keeps its bytes, and its line is known", () => {
  expect(splitFrontMatter("---\na: 1\nb: 2\n---\n\n Body \n")).toMatchObject({ body: "\n Body \n", bodyLine: 5 });
});
