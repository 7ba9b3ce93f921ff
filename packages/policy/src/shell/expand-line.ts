import { hatchesOf, programName, reachOf, type Reach } from "./programs.ts";
import { readShellLine, type ShellCommand, type ShellLine } from "./shell-line.ts";
import type { ShellWord } from "./shell-word.ts";
import { findInner, type Inner } from "./wrappers.ts";

/** One program that the line runs, directly or through another program. */
export interface ShellUnit {
  command: ShellCommand;
  /** The name without folder and extension, in lower case; undefined if it depends on a variable. */
  program: string | undefined;
  reach: Reach;
  /** Indexes of words that make the program run other code; an allow rule must spell them out. */
  hatches: readonly number[];
  /** The program only runs another one, which is judged separately: `timeout 5 npm test`. */
  transparent: boolean;
}

export interface ExpandedLine {
  units: ShellUnit[];
  /** Reasons why the line may do more than the units show. */
  doubts: string[];
}

/** Variables that cannot change a program's behaviour, or that only a loop uses. */
const HARMLESS_VARIABLE =
  /^(?:NODE_ENV|CI|FORCE_COLOR|NO_COLOR|COLUMNS|LINES|LANG|LC_[A-Z]+|TZ|RUST_LOG|RUST_BACKTRACE|PYTHONUNBUFFERED|[a-z][0-9]?|file|dir|name|line|item|count|out|result)$/;

/** Builtins that change how the shell parses later commands. */
const CHANGING = new Set(
  `alias unalias hash enable disable shopt setopt unsetopt source . autoload let zmodload emulate
  functions bind complete fc unset read mapfile readarray getopts vared zle zstyle sched rehash unhash
  zcompile unfunction`.split(/\s+/),
);
const DECLARING = new Set(["export", "declare", "typeset", "local", "readonly", "integer", "float"]);
const SAFE_SET = /^-[eux]+$|^-[eux]*o$|^pipefail$/;

const MAX_UNITS = 200;

/** Finds every program that a line runs, as far as that is known: `timeout 5 env X=1 bash -c "a | b"` is five programs. */
export function expandLine(source: string): ExpandedLine {
  const expanded: ExpandedLine = { units: [], doubts: [] };
  expand(readShellLine(source), expanded, 0);
  return expanded;
}

function expand(line: ShellLine, into: ExpandedLine, depth: number): void {
  if (line.doubt !== undefined) into.doubts.push(line.doubt);
  for (const command of line.commands) {
    if (into.units.length >= MAX_UNITS || depth > 8) {
      into.doubts.push("it runs too many commands");
      return;
    }
    look(command, into, depth);
  }
}

function look(command: ShellCommand, into: ExpandedLine, depth: number): void {
  for (const { name } of command.assigns) {
    if (!HARMLESS_VARIABLE.test(name)) into.doubts.push(`it sets ${name}, which may change what runs`);
  }
  const [first] = command.words;
  const program = first && !first.glob && first.text !== undefined ? programName(first.text) : undefined;
  const inner = program === undefined ? NONE : findInner(program, command);
  into.units.push({
    command,
    program,
    reach: first ? reachOf(program, command.words) : "reads",
    hatches: hatchesOf(program, command.words),
    transparent: inner.transparent,
  });
  if (program !== undefined) noteChanges(program, command.words, into);
  if (inner.doubt !== undefined) into.doubts.push(inner.doubt);
  for (const words of inner.commands) {
    look(
      { ...command, redirects: [], assigns: inner.assigns, words, source: shown(words), inside: program },
      into,
      depth + 1,
    );
  }
  for (const { text, inside } of inner.lines) expand(readShellLine(text, inside), into, depth + 1);
}

const NONE: Inner = { commands: [], lines: [], assigns: [], transparent: false, doubt: undefined };

function noteChanges(program: string, words: readonly ShellWord[], into: ExpandedLine): void {
  const rest = words.slice(1);
  if (CHANGING.has(program)) into.doubts.push(`\`${program}\` changes what later commands do`);
  if (program === "set" && !rest.every(({ text }) => text !== undefined && SAFE_SET.test(text))) {
    into.doubts.push("`set` changes what later commands do");
  }
  if (!DECLARING.has(program)) return;
  for (const { text, source } of rest) {
    const name = /^([A-Za-z_]\w*)(?:=|$)/.exec(text ?? source)?.[1];
    if (name === undefined || !HARMLESS_VARIABLE.test(name)) into.doubts.push(`\`${program}\` may change what runs`);
  }
}

const shown = (words: readonly ShellWord[]): string => words.map(({ source }) => source).join(" ");
