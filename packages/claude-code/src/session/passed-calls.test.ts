import { expect, test } from "vitest";
import { PassedCalls } from "./passed-calls.ts";

test("a tool of the host runs once, with the tool and input that the gate allowed, and never unasked", () => {
  const passed = new PassedCalls();
  passed.add("toolu_1", { tool: "mcp__my_mail__send", input: { to: "ann" }, mode: undefined });
  expect(passed.admits(undefined, "mcp__my.mail__send", { to: "ann" })).toBe(false);
  expect(passed.admits("toolu_2", "mcp__my.mail__send", { to: "ann" })).toBe(false);
  expect(passed.admits("toolu_1", "mcp__my.mail__delete", { to: "ann" })).toBe(false);
  expect(passed.admits("toolu_1", "mcp__my.mail__send", { to: "eve" })).toBe(false);
  expect(passed.admits("toolu_1", "mcp__my.mail__send", { to: "ann" })).toBe(true);
  expect(passed.admits("toolu_1", "mcp__my.mail__send", { to: "ann" })).toBe(false);
});
