import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, inject, test } from "vitest";
import { readShellLine } from "./shell-line.ts";
import type { ShellWord } from "./shell-word.ts";

// Fuzzes the parser against bash: commands parsed as certain must be the commands that bash runs. Bash runs generated lines
// with an empty PATH and reports each command that it looked up.

const SEPARATORS = [" ", " ", " ", "\t", ";", "&&", "||", "|", "|&", "&", "\n"];
const QUOTES = ["'", '"', "\\", "\\'", "`", "$'", '$"', "\\x61", "a\\\nb"];
const EXPANSIONS = ["$", "$(", ")", "(", "{", "}", "$x", "${x}", "$((1+1))", "*", "~", "[", "]", "{a,b}"];
const REDIRECTIONS = ["<<E", "\nE\n", "<<<", ">/dev/null", "2>&1", ">&2", "<("];
const KEYWORDS = ["!", "if ", "then ", "fi", "for i in a b;", "while false;", "do ", "done", "time "];
const WORDS = ["aa", "bb", "cc", "#", "x=", "=", "-", "1"];
const PIECES = [SEPARATORS, QUOTES, EXPANSIONS, REDIRECTIONS, KEYWORDS, WORDS].flat();
const LINES = inject("soak") ? 20_000 : 500;
/** Reads lines that end with NUL, runs each in a subshell, and waits until no process of the line is left. */
const SHELL = `PATH=/nowhere
command_not_found_handle() { local said=; for word in "$@"; do said="$said<$word>"; done; printf '%s\\1' "$said" >&9; }
while IFS= read -r -d '' line; do
  printf '%s\\0' "$( { eval "$line"; } 9>&1 </dev/null >/dev/null 2>&1 )"
done
`;

const folder = mkdtempSync(join(tmpdir(), "tandem-shell-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A seeded generator, so that a failure can be reproduced. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ; yield state / 0x7fffffff) state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
}

function madeUpLine(random: Generator<number>): string {
  const pick = (below: number): number => Math.floor((random.next().value as number) * below);
  return Array.from({ length: 2 + pick(9) }, () => PIECES[pick(PIECES.length)]!).join("");
}

/** The commands that bash runs for each line. */
function ranByBash(lines: readonly string[]): string[][] {
  const { stdout } = spawnSync("bash", ["--norc", "--noprofile", "-c", SHELL], {
    env: { PATH: process.env["PATH"], HOME: "/nowhere" },
    cwd: folder,
    encoding: "utf8",
    input: lines.map((line) => `${line}\0`).join(""),
    timeout: 200_000,
  });
  const ended = stdout.split("\0").slice(0, -1);
  return ended.map((said) => said.split("\u0001").filter((each) => each !== ""));
}

/** Whether bash may report this for a command with these words. Unknown words match anything. */
function isForetold(words: readonly ShellWord[], said: string): boolean {
  if (words.every(({ text, glob, home }) => text !== undefined && !glob && !home)) {
    return words.map(({ text }) => `<${text}>`).join("") === said;
  }
  const [program] = words;
  return program?.text === undefined || program.glob || said.startsWith(`<${program.text}>`);
}

test("bash runs only commands that the parser found, if the line is certain", () => {
  const random = numbers(20_261);
  const lines = Array.from({ length: LINES }, () => madeUpLine(random)).filter(
    (line) => readShellLine(line).doubt === undefined,
  );
  const ran = ranByBash(lines);
  expect(ran).toHaveLength(lines.length);
  for (const [at, line] of lines.entries()) {
    const { commands } = readShellLine(line);
    const unforetold = ran[at]!.filter((said) => !commands.some(({ words }) => isForetold(words, said)));
    expect(unforetold, JSON.stringify(line)).toEqual([]);
  }
  // A parser that doubts every line would pass too, and a shell that runs nothing.
  expect(lines.length).toBeGreaterThan(LINES / 5);
  expect(ran.flat().length).toBeGreaterThan(LINES / 10);
});
