import type { ShellUnit } from "../shell/expand-line.ts";
import { programName } from "../shell/programs.ts";
import { readShellLine } from "../shell/shell-line.ts";
import type { ShellWord } from "../shell/shell-word.ts";

/** Whether a rule matches a call; `maybe` if that is unknown before the call runs. */
export type Fit = "yes" | "maybe" | "no";

/** Words of a command. `*` matches any text in a word; as the last word it matches any further words. */
export interface CommandPattern {
  words: readonly string[];
  /** True if the pattern ends with `*`. */
  open: boolean;
}

/** Returns an error text if the pattern is invalid. */
export function readCommandPattern(text: string): CommandPattern | string {
  if (text.trim() === "*") return { words: [], open: true };
  const { commands, doubt } = readShellLine(text);
  const [command] = commands;
  if (doubt !== undefined) return `it cannot be read as one command: ${doubt}`;
  if (!command || commands.length > 1) return "it has to be one command; write a rule for each";
  if (command.redirects.length > 0 || command.assigns.length > 0) {
    return "it has to be a program and its words, without redirections and variables";
  }
  const words = command.words.map((word) => word.text);
  if (words.some((word) => word === undefined)) return "it must not depend on variables or on other commands";
  if (words.length === 0 || !text.trim().startsWith(command.words[0]!.source)) return "it has to begin with a program";
  const open = words.at(-1) === "*";
  const fixed = (open ? words.slice(0, -1) : words) as string[];
  if (fixed[0]?.includes("*")) return "its program has to be named in full, or it has to be `*` alone";
  return { words: fixed, open };
}

/** Matches word by word. Words that make a program run other code must be spelled out in the pattern. */
export function matchesAllow({ words: wanted, open }: CommandPattern, unit: ShellUnit): boolean {
  const { words } = unit.command;
  if (wanted.length === 0) return true;
  if (words.length < wanted.length || (words.length > wanted.length && !open)) return false;
  return words.every((word, index) => {
    const pattern = wanted[index];
    if (pattern === undefined || pattern.includes("*")) {
      return !unit.hatches.includes(index) && isPlain(word) && (pattern === undefined || fits(pattern, word.text!));
    }
    return !word.glob && word.text === pattern;
  });
}

/** `*` matches a known word, or file names that cannot be parsed as options. */
const isPlain = ({ text, glob }: ShellWord): boolean => text !== undefined && (!glob || /^[\w./]/.test(text));

/** Matches a deny or ask pattern as a prefix, ignoring options in between. */
export function matchesRestriction({ words: wanted }: CommandPattern, unit: ShellUnit): Fit {
  const [program, ...rest] = wanted;
  if (program === undefined) return "yes";
  if (unit.program === undefined) return "maybe";
  if (unit.program !== programName(program)) return "no";
  const words = unit.command.words.slice(1);
  const named = namedWords(
    rest.filter((word) => !word.startsWith("-")),
    words,
  );
  if (named === "no") return "no";
  const options = rest.filter((word) => word.startsWith("-"));
  const fitting = new Set([named, ...options.map((option) => hasOption(option, words))]);
  if (fitting.has("no")) return "no";
  return fitting.has("maybe") ? "maybe" : "yes";
}

function namedWords(wanted: readonly string[], words: readonly ShellWord[]): Fit {
  let at = 0;
  for (const pattern of wanted) {
    let afterOption = false;
    for (; ; at += 1) {
      const word = words[at];
      if (!word) return "no";
      if (word.text === undefined || word.glob) return "maybe";
      if (fits(pattern, word.text)) break;
      const option = word.text.startsWith("-");
      // The word after an option may be its value.
      if (!option && !afterOption) return "no";
      afterOption = option;
    }
    at += 1;
  }
  return "yes";
}

function hasOption(option: string, words: readonly ShellWord[]): Fit {
  const texts = words.flatMap(({ text, glob }) => (text !== undefined && !glob ? [text] : []));
  const long = texts.filter((text) => text.startsWith("--") && text.length > 2);
  const unknown: Fit = texts.length < words.length ? "maybe" : "no";
  if (option.startsWith("--")) {
    // Programs accept abbreviated long options.
    const found = long.some((text) => text.startsWith(option) || (text.length > 3 && option.startsWith(text)));
    return found ? "yes" : unknown;
  }
  const letters = texts.filter((text) => /^-[^-]/.test(text)).join("");
  if (
    option
      .slice(1)
      .split("")
      .every((letter) => letters.includes(letter))
  )
    return "yes";
  return long.length > 0 ? "maybe" : unknown;
}

/** Whether text that cannot be parsed with certainty names the pattern's program. */
export function mentionsProgram({ words: [program] }: CommandPattern, source: string): boolean {
  if (program === undefined) return true;
  const name = programName(program).replace(/[^\w]/g, "\\$&");
  return new RegExp(`(?:^|[^\\w.-])${name}(?:$|[^\\w-])`, "i").test(source);
}

const fits = (pattern: string, text: string): boolean =>
  pattern.includes("*") ? new RegExp(`^${pattern.split("*").map(escape).join("[^]*")}$`).test(text) : pattern === text;

const escape = (text: string): string => text.replace(/[^\w]/g, "\\$&");
