import type { OptionTable } from "../option-table.ts";

// No part of these patterns can match the same text in two ways, so that matching takes linear time.

/** A bracket expression. GNU and BSD sed disagree about a delimiter in it, so it must have none. */
const bracket = (delimiter: string): string => String.raw`\[\^?\]?(?:\[:\w+:\]|[^\][\n\\${delimiter}])*\]`;
const pattern = (delimiter: string): string => String.raw`(?:[^\\\n[${delimiter}]|\\[^\n]|${bracket(delimiter)})*`;
const replacement = (delimiter: string): string => String.raw`(?:[^\\\n${delimiter}]|\\[^])*`;

const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/${pattern("/")}/I?)`;
const ADDRESSES = String.raw`(?:${ADDRESS}(?:,\s*(?:[+~]\d+|${ADDRESS}))?(?:\s*!)?\s*)?`;
const SUBSTITUTIONS = ["/", "\\|", ",", "#", "@", "_"].map(
  (delimiter) => `s${delimiter}${pattern(delimiter)}${delimiter}${replacement(delimiter)}${delimiter}[gpiImM\\d]*`,
);
/** Left out: `e` and the flag `e` run commands, `w`, `W` and the flag `w` write, `r` and `R` read other files. */
const COMMANDS = [
  String.raw`[}pPdDgGhHxnNlz=F]`,
  String.raw`[qQ]\d*`,
  String.raw`y/(?:[^\\\n/]|\\[^\n])*/(?:[^\\\n/]|\\[^\n])*/`,
  String.raw`[:btT](?:[ \t]*\w+)?`,
  ...SUBSTITUTIONS,
];
// A command may follow `{` directly.
const SED_SCRIPT = new RegExp(
  String.raw`^(?:[\s;]*${ADDRESSES}(?:\{|(?:${COMMANDS.join("|")})(?=\s*(?:[;\n}]|$))))*[\s;]*$`,
);

/** Whether a sed script only prints. */
const isHarmlessSed = (script: string): boolean => script.length < 2_000 && SED_SCRIPT.test(script);

/** Whether an awk program neither writes, nor runs anything, nor reads files that no word names. */
const isHarmlessAwk = (program: string): boolean =>
  !/system|getline|ARG[VC]|@|\||>(?!=)/.test(program.replaceAll("||", ""));

const AWK: OptionTable = {
  values: "Fv",
  long: "field-separator= assign= csv posix traditional re-interval version help",
  operand: (text, position) => position > 0 || isHarmlessAwk(text),
};

/** Programs with a script among their words. */
export const SCRIPT_PROGRAMS: Readonly<Record<string, OptionTable>> = {
  sed: {
    flags: "nErsuz",
    values: "e",
    long: "quiet silent regexp-extended separate unbuffered null-data posix sandbox expression= version help",
    accepts: { e: isHarmlessSed, expression: isHarmlessSed },
    operand: (text, position, seen) => position > 0 || seen.has("e") || seen.has("expression") || isHarmlessSed(text),
  },
  awk: AWK,
  gawk: AWK,
  mawk: AWK,
  nawk: AWK,
};
