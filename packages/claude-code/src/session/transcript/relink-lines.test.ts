import { expect, test } from "vitest";
import { relinkLines } from "./relink-lines.ts";

const line = (uuid: string, parentUuid: string | null, more: object = {}) => ({
  type: "user",
  uuid,
  parentUuid,
  ...more,
});
const note = { type: "cost-state" };

test("bridges a gap with the line before it", () => {
  const lines = [line("a", null), line("b", "a"), note, line("d", "lost"), line("e", "d")];
  expect(relinkLines(lines)).toEqual([line("a", null), line("b", "a"), note, line("d", "b"), line("e", "d")]);
});

test("keeps branches, a second beginning, and what has no line before it", () => {
  const lines = [line("a", null), line("b", "a"), line("c", "a"), line("d", null)];
  expect(relinkLines(lines)).toEqual(lines);
  expect(relinkLines([line("b", "lost")])).toEqual([line("b", null)]);
});

test("keeps subagents apart", () => {
  const aside = { isSidechain: true };
  const lines = [line("a", null), line("x", null, aside), line("c", "lost"), line("z", "gone", aside)];
  expect(relinkLines(lines).map(({ parentUuid }) => parentUuid)).toEqual([null, null, "a", "x"]);
});
