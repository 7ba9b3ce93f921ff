import { expect, test } from "vitest";
import { expandCommand } from "./expand-command.ts";
import { parseTemplate, splitArguments } from "./template.ts";

const ran: { command: string; words: readonly string[]; typed: string }[] = [];
const around = {
  readFile: async (path: string) => `<content of ${path}>`,
  runShell: async (command: string, words: readonly string[], typed: string) => {
    ran.push({ command, words, typed });
    return `<output of ${command}>`;
  },
};
const expand = (template: string, typed: string) => expandCommand({ name: "x", template }, typed, around);

test.each([
  ["Fix issue $1 of $2.", "12 tandem", "Fix issue 12 of tandem."],
  ["First $1, then $2.", 'one "two words" three', "First one, then two words three."],
  ["All: $ARGUMENTS!", "a 'b  c'", "All: a 'b  c'!"],
  ["No place for them.", "but given", "No place for them.\n\nbut given"],
  ["$1 costs $10 and $2", "x", "x costs $10 and"],
  ["Nobody: $3.", "a b", "Nobody: ."],
])("%j with %j", async (template, typed, expected) => {
  expect(await expand(template, typed)).toBe(expected);
});

test("file contents are fenced so that their text cannot end the fence", async () => {
  const text = await expandCommand(
    { name: "x", template: "Look at @src/a.ts and mail me@example.com, @someone." },
    "",
    { ...around, readFile: async () => "```\nout of the fence?\n```" },
  );
  expect(text).toContain("src/a.ts:\n````\n```\nout of the fence?\n```\n````\n");
  expect(text).toContain("me@example.com, @someone.");
});

test("a path can come from an argument only if the template says so", async () => {
  expect(await expand("Read @$1 please", "src/b.ts")).toContain("<content of src/b.ts>");
  expect(await expand("Say $1", "@src/secret.ts")).toBe("Say @src/secret.ts");
});

test.each(["!`touch x`", "$(touch x)", "`touch x`", "@/etc/passwd", "$1", "$ARGUMENTS"])(
  "an argument stays text: %s",
  async (typed) => {
    ran.length = 0;
    expect(await expand("Do: $ARGUMENTS", typed)).toBe(`Do: ${typed}`);
    expect(ran).toEqual([]);
  },
);

test("shell insertions run the template's own text, with the arguments as parameters", async () => {
  ran.length = 0;
  expect(await expand('Log:\n!`git log "$1"`', "main; rm -rf x")).toContain('<output of git log "$1">');
  expect(ran).toEqual([{ command: 'git log "$1"', words: ["main;", "rm", "-rf", "x"], typed: "main; rm -rf x" }]);
});

test("an empty command is refused with a reason", async () => {
  await expect(expand("  ", "")).rejects.toThrow("The command /x is empty.");
});

test("quotes group arguments", () => {
  expect(splitArguments(`a "b c" 'd  e' f"g`)).toEqual(["a", "b c", "d  e", 'f"g']);
});

test("code spans and email addresses are not files", () => {
  expect(parseTemplate("`@a.ts` is code, x@y.z an address").every(({ type }) => type === "text")).toBe(true);
});
