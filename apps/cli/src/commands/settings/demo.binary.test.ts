import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { expect, inject, test } from "vitest";
import { PROJECT, unpackSeed } from "../../demo/seed/unpack-seed.ts";
import { scratchMachine } from "../../testing/run-tandem.ts";

// The test of the package runs the demo with text output.
test.runIf(inject("soak"))("tandem demo --json reports each call", async () => {
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

test("tandem demo context creates nothing in a non-empty folder", async () => {
  await using machine = await scratchMachine("# mine\n");
  const { code, stderr } = await machine.run(["demo", "context", "."]);
  expect(code).toBe(2);
  expect(stderr).toContain("is not empty.");
  expect(await readdir(machine.project)).toEqual(["tandem.yaml"]);
});

test("commands on the data use the demo's home in the demo's folder", async () => {
  await using machine = await scratchMachine();
  const demo = `${machine.variables.TANDEM_HOME}-demo`;
  await unpackSeed(demo);
  const cwd = relative(machine.project, join(demo, PROJECT));
  const commands = [
    ["sql", "shop", "select count(*) as n from customers"],
    ["context", "sql", "shop", "select count(*) as n from customers"],
    ["metrics"],
    ["mcp"],
  ];
  for (const args of commands) expect(await machine.run(args, { cwd }), args.join(" ")).toMatchObject({ code: 0 });
});
