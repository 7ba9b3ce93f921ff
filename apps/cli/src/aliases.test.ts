import type { Command } from "commander";
import { expect, test } from "vitest";
import { GROUP_MEMBERS, OLD_COMMANDS, OLD_OPTIONS, resolveAliases } from "./aliases.ts";
import { addDefaultSubcommand, createProgram } from "./program.ts";

const program = await createProgram("0.0.0", async () => {});

const find = (name: string): Command | undefined =>
  name
    .split(" ")
    .reduce<Command | undefined>((group, word) => group?.commands.find((each) => each.name() === word), program);

test.each(Object.entries(OLD_COMMANDS))("tandem %s is replaced by tandem %s, which exists", (from, to) => {
  expect(find(to)).toBeDefined();
  expect(find(from)).toBeUndefined();
  const { args, notices } = resolveAliases(["--project", "dir", ...from.split(" "), "one", "--json"]);
  expect(args).toEqual(["--project", "dir", ...to.split(" "), "one", "--json"]);
  expect(notices).toEqual([expect.stringContaining(`\`tandem ${to}\``)]);
});

test.each(Object.entries(GROUP_MEMBERS))("tandem %s is tandem %s, without a notice", (from, to) => {
  expect(find(to)).toBeDefined();
  expect(resolveAliases([...from.split(" "), "last"])).toEqual({ args: [to, "last"], notices: [] });
});

test.each(
  Object.entries(OLD_OPTIONS).flatMap(([command, names]) => Object.entries(names).map((each) => [command, ...each])),
)("tandem %s %s is replaced by %s, which exists", (command, from, to) => {
  expect(find(command)?.options.map(({ long }) => long)).toContain(to);
  const { args, notices } = resolveAliases([command, `${from}=3`, "--", from]);
  expect(args).toEqual([command, `${to}=3`, "--", from]);
  expect(notices).toHaveLength(1);
});

test.each([
  [
    ["help", "context", "scan"],
    ["context", "scan", "--help"],
  ],
  [
    ["help", "token", "create"],
    ["tokens", "add", "--help"],
  ],
  [
    ["help", "--all"],
    ["help", "--all"],
  ],
  [
    ["run", "scan", "the", "budget"],
    ["run", "scan", "the", "budget"],
  ],
])("%j becomes %j", (given, expected) => expect(resolveAliases(given).args).toEqual(expected));

test.each([
  [["sessions"], ["sessions", "list"]],
  [
    ["sessions", "--json"],
    ["sessions", "list", "--json"],
  ],
  [["context"], ["context", "status"]],
  [
    ["context", "proposals", "--limit", "3"],
    ["context", "proposals", "list", "--limit", "3"],
  ],
  [["config"], ["config", "show"]],
  [
    ["sessions", "--help"],
    ["sessions", "--help"],
  ],
  [
    ["sessions", "shwo"],
    ["sessions", "shwo"],
  ],
  [["run"], ["run"]],
])("%j runs %j", (given, expected) => expect(addDefaultSubcommand(program, given)).toEqual(expected));

test("every command has an example that starts with its name or pipes into it", async () => {
  const { examplesOf } = await import("./commands/registration.ts");
  const leaves = (command: Command): Command[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
  for (const command of program.commands.flatMap(leaves)) {
    const names: string[] = [];
    for (let each: Command | null = command; each; each = each.parent) names.unshift(each.name());
    expect(examplesOf(command).join("\n")).toContain(names.join(" "));
  }
});
