import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { scratchMachine } from "../../testing/run-tandem.ts";

test("tandem demo shows every kind of call on the real binary, and leaves nothing behind", async () => {
  await using machine = await scratchMachine();
  const { code, stdout, stderr } = await machine.run(["demo"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("does not fit");
  expect(stdout).toMatch(/step 2 +read_note, read_note/);
  expect(stdout).toContain("529 overloaded: trying again");
  expect(stdout).toContain("23 model requests and 0 others, all to 127.0.0.1");
  expect(stdout).toContain("Claude Code processes still running: 0");
  expect(stdout, "colour is for terminals").not.toContain("\u001b[");
  expect((await readdir(machine.variables.TMPDIR)).filter((name) => name.startsWith("tandem-demo-"))).toEqual([]);
});

test("tandem demo --json reports each call", async () => {
  await using machine = await scratchMachine();
  const { code, stdout } = await machine.run(["demo", "--json"]);
  expect(code).toBe(0);
  const { calls } = JSON.parse(stdout) as { calls: { operation: string; outcome: string }[] };
  expect(calls.slice(0, 4).map(({ operation, outcome }) => `${operation} ${outcome}`)).toEqual([
    "text ok",
    "object ok",
    "loop ok",
    "text ok",
  ]);
});
