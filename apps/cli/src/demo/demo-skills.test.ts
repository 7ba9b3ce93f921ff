import { describe, expect, test } from "vitest";
import { playSkill } from "./demo-skills.ts";
import type { DemoTurn, Step } from "./demo-turn.ts";

const TOOLS = new Set(["Glob", "Read", "Write", "Edit", "Bash", "AskUserQuestion"]);
const turn = (ask: string, steps: Step[] = [], change: Partial<DemoTurn> = {}): DemoTurn => ({
  ask,
  steps,
  replies: steps.length,
  offers: (tool) => TOOLS.has(tool),
  searchTool: undefined,
  folder: "/project",
  planFile: undefined,
  ...change,
});
const step = (tool: string, result = "", isError = false): Step => ({ tool, result, isError });
const calls = (played: DemoTurn) =>
  playSkill(played).content.flatMap((block) => (block.type === "tool_use" ? [[block.name, block.input]] : []));
const words = (played: DemoTurn) =>
  playSkill(played)
    .content.flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n");

test("lists the folder without git's files and installed packages", () => {
  const ask = "What is in this folder?";
  expect(calls(turn(ask))).toEqual([["Glob", { pattern: "*" }]]);
  const found = ".git/HEAD\nnode_modules/x/i.js\nsrc/a.ts\nsrc/b.ts\nREADME.md\n(Results are truncated.)";
  expect(words(turn(ask, [step("Glob", found)]))).toBe("I see README.md, src.");
  expect(words(turn(ask, [step("Glob", "No files found")]))).toBe("There is nothing in it yet.");
});

describe("writes the named file", () => {
  test.each([
    ["Write hello.txt with the word hello in it.", "hello.txt", "hello\n"],
    ['Create docs/note.md saying "to be, or not"', "docs/note.md", "to be, or not\n"],
    ["Make a file a.txt containing two words", "a.txt", "two words\n"],
    ["Add b.json", "b.json", "Written by the demo agent.\n"],
  ])("%s", (ask, file, content) => {
    expect(calls(turn(ask))).toEqual([["Write", { file_path: `/project/${file}`, content }]]);
  });

  test("reads a file before it overwrites it, and says so if the call was denied", () => {
    const unread = step("Write", "File has not been read yet.", true);
    expect(calls(turn("Write a.txt", [unread]))).toEqual([["Read", { file_path: "/project/a.txt" }]]);
    expect(calls(turn("Write a.txt", [unread, step("Read", "1→old")]))[0]?.[0]).toBe("Write");
    expect(words(turn("Write a.txt", [step("Write", "No.", true)]))).toContain("did not go through");
  });
});

test("edits a file: the named words, or its first line", () => {
  const ask = 'Replace "hello" with "goodbye" in hello.txt.';
  const path = "/project/hello.txt";
  expect(calls(turn(ask))).toEqual([["Read", { file_path: path }]]);
  const edit = { file_path: path, old_string: "hello", new_string: "goodbye" };
  expect(calls(turn(ask, [step("Read", "     1→hello")]))).toEqual([["Edit", edit]]);
  const first = { file_path: path, old_string: "one", new_string: "one (changed by the demo agent)" };
  expect(calls(turn("Edit hello.txt", [step("Read", "     1→\n     2→one")]))).toEqual([["Edit", first]]);
  expect(words(turn("Edit hello.txt", [step("Read", "")]))).toBe("hello.txt is empty, so there is nothing to change.");
});

test("runs a quoted command", () => {
  expect(calls(turn("Run `git status`."))[0]?.[1]).toMatchObject({ command: "git status" });
  expect(words(turn("Run `true`", [step("Bash", "")]))).toBe("It printed: nothing");
});

test("plans in plan mode only, and carries the approved plan out", () => {
  const planFile = "/home/plans/quiet-river.md";
  const next = (...tools: string[]) =>
    calls(
      turn(
        "Do it",
        tools.map((tool) => step(tool)),
        { planFile },
      ),
    )[0]?.[0];
  expect([next(), next("Write"), next("Write", "ExitPlanMode")]).toEqual(["Write", "ExitPlanMode", "Write"]);
  expect(words(turn("Do it", [step("Write"), step("ExitPlanMode"), step("Write")], { planFile }))).toContain(
    "as planned",
  );
  expect(words(turn("Make a plan."))).toContain("# Plan");
});

test("asks a question, and answers from the context if there is one", () => {
  expect(calls(turn("Ask me a question."))[0]?.[0]).toBe("AskUserQuestion");
  const about = "What does the context say about orders?";
  expect(calls(turn(about, [], { searchTool: "mcp__x__context_search" }))).toEqual([
    ["mcp__x__context_search", { query: "orders" }],
  ]);
});

test("lists only requests that it can carry out in this session", () => {
  expect(words(turn("hello there"))).toContain("Write hello.txt");
  expect(words(turn("hello there"))).not.toContain("context");
  expect(words(turn("hello there", [], { offers: () => false }))).not.toContain("hello.txt");
});
