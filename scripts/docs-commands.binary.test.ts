import { expect, test } from "vitest";
import { createProgram } from "../apps/cli/src/program.ts";
import { guides, readPage } from "./follow-docs/pages.ts";

/** The lines of a page that call the command. */
function commandsIn(page: string): string[] {
  const blocks = [...page.matchAll(/^```(?:sh|console)\n([\s\S]*?)^```/gm)].flatMap(([, block]) => block!.split("\n"));
  const spans = [...page.replaceAll(/^```[\s\S]*?^```/gm, "").matchAll(/`([^`\n]+)`/g)].map(([, span]) => span!);
  return [...blocks, ...spans].flatMap((line) => /^(?:\$ )?(?:npx )?(tandem [a-z].*)$/.exec(line.trim())?.[1] ?? []);
}

type Command = Awaited<ReturnType<typeof createProgram>>;

/** Words of a line that are no command or option. Values and operands are not checked. */
function unknownWords(program: Command, line: string): string[] {
  const [, ...words] = line
    .replaceAll(/"[^"]*"|'[^']*'/g, "VALUE")
    .split(/ [|#>&]/)[0]!
    // Another program's command line follows.
    .split(" -- ")[0]!
    .split(/\s+/);
  let command = program;
  const unknown: string[] = [];
  for (const word of words) {
    const child = command.commands.find((each) => each.name() === word);
    if (child) command = child;
    else if (
      command.commands.length > 0 &&
      command.registeredArguments.length === 0 &&
      /^[a-z]+$/.test(word) &&
      word !== "help"
    )
      unknown.push(word);
    else if (word.startsWith("--")) {
      const [name] = word.split("=");
      const options = [...command.options, ...program.options].flatMap(({ long, short }) => [long, short]);
      if (!options.includes(name) && name !== "--help" && words[0] !== "help") unknown.push(word);
    }
  }
  return unknown;
}

test("every command and option exists under its current name", async () => {
  const program = await createProgram("0", async () => {});
  // The generated reference also lists the old names.
  const written = guides.filter((page) => page !== "docs/reference/cli.md");
  const named = written.flatMap((page) => commandsIn(readPage(page)).map((line) => ({ page, line })));
  const wrong = named.flatMap(({ page, line }) =>
    unknownWords(program, line).map((word) => `${page}: ${line}: ${word}`),
  );
  expect(named.length).toBeGreaterThan(200);
  expect(wrong).toEqual([]);
});

test("the assertions of the rehearsal example hold", async () => {
  await expect(import("../docs/examples/rehearsed-loop.ts")).resolves.toBeDefined();
});
