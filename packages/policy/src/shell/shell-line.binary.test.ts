import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, inject, test } from "vitest";
import { readShellLine, type ShellWord } from "./shell-line.ts";

// What is read as certain must be what bash does. Lines are made of pieces that are easily misread; bash runs them with no
// program to be found, and says which ones it has looked for, with which words.

const PIECES = [
  ...["aa", "bb", "cc", " ", " ", " ", "\t", ";", "&&", "||", "|", "|&", "&", "\n", "'", '"', "\\", "\\'", "`", "$"],
  ...["$(", ")", "(", "{", "}", "#", "x=", "=", "<<E", "\nE\n", "<<<", ">/dev/null", "2>&1", ">&2", "<(", "!", "$'"],
  ...["\\x61", "$x", "${x}", "$((1+1))", '$"', "*", "~", "[", "]", "-", "1", "a\\\nb", "{a,b}"],
  ...["if ", "then ", "fi", "for i in a b;", "while false;", "do ", "done", "time "],
];
const LINES = inject("soak") ? 1_500 : 300;
const SHELL = `exec 9>&1
command_not_found_handle() { local said=; for word in "$@"; do said="$said<$word>"; done; printf '%s\\0' "$said" >&9; }
PATH=/nowhere
eval "$LINE" </dev/null >/dev/null 2>&1
`;

const folder = mkdtempSync(join(tmpdir(), "tandem-shell-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The same numbers each time, so that a failure can be looked into. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ; yield state / 0x7fffffff) state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
}

function madeUpLine(random: Generator<number>): string {
  const pick = (below: number): number => Math.floor((random.next().value as number) * below);
  return Array.from({ length: 2 + pick(9) }, () => PIECES[pick(PIECES.length)]!).join("");
}

function ranByBash(line: string): string[] {
  const { stdout } = spawnSync("bash", ["--norc", "--noprofile", "-c", SHELL], {
    env: { PATH: process.env["PATH"], LINE: line, HOME: "/nowhere" },
    cwd: folder,
    encoding: "utf8",
    timeout: 10_000,
  });
  return stdout.split("\0").filter((said) => said !== "");
}

/** Whether bash may have said this of a command with these words; those that are not known may have become any. */
function isForetold(words: readonly ShellWord[], said: string): boolean {
  if (words.every(({ text, glob, home }) => text !== undefined && !glob && !home)) {
    return words.map(({ text }) => `<${text}>`).join("") === said;
  }
  const [program] = words;
  return program?.text === undefined || program.glob || said.startsWith(`<${program.text}>`);
}

test("bash runs nothing that was not read in a line that is certain", () => {
  const random = numbers(20_261);
  let certain = 0;
  for (let count = 0; count < LINES; count += 1) {
    const line = madeUpLine(random);
    const { commands, doubt } = readShellLine(line);
    if (doubt !== undefined) continue;
    certain += 1;
    const unforetold = ranByBash(line).filter((said) => !commands.some(({ words }) => isForetold(words, said)));
    expect(unforetold, JSON.stringify(line)).toEqual([]);
  }
  // A reader that doubts everything would pass as well.
  expect(certain).toBeGreaterThan(LINES / 5);
});
