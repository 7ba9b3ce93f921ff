import { guardOf, guardOfGlob } from "./guard.ts";
import type { Caution } from "./judge-parts.ts";
import { absolute, type SessionPaths } from "./path-pattern.ts";
import { isSecret, mayBeSecret, mentionsSecret } from "./secrets.ts";
import type { ShellUnit } from "../shell/expand-line.ts";
import { NAMES_ONLY } from "../shell/programs.ts";
import { searchOf } from "../shell/searches.ts";
import type { ShellWord } from "../shell/shell-word.ts";

/** Parts of a word that may be a path: `of=x`, `--file=x`, `-fx`, `host:x`, `@x`, `a,b`, `a=<x`, `a=@"x";type=b`. */
export function candidates(text: string): Set<string> {
  const found = new Set([text]);
  for (const piece of text.split(/[=:@,;<"]/)) if (piece !== "") found.add(piece);
  for (const separator of ["=", ":", "@"]) {
    const at = text.indexOf(separator);
    if (at !== -1 && at < text.length - 1) found.add(text.slice(at + 1));
  }
  if (/^-[A-Za-z]./.test(text)) found.add(text.slice(2));
  // A host may precede the path.
  const file = /^file:\/\/[^/]*(\/.*)$/i.exec(text)?.[1];
  if (file !== undefined)
    found.add(file.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16))));
  return found;
}

/** The reason to ask about a command unless a rule allows exactly it. `from`: base folders of its relative paths. */
export function guardWords(
  unit: ShellUnit,
  line: string,
  paths: SessionPaths,
  from: readonly string[],
): Caution | undefined {
  return guardOfTandem(unit) ?? guardOfSecrets(unit, line, paths, from) ?? guardOfWrites(unit, paths, from);
}

const RUNNERS = /^(?:npx|npm|pnpm|pnpx|yarn|bunx?|corepack|node|nodejs|tsx|ts-node|deno|(?:ba|z|da|k|a)?sh)$/;
const TANDEM =
  /(?:^|[\s;&|/'"(])tandem(?:@[^\s/]*)?(?:\.[cm]?[jt]s)?(?=$|[\s;&|'")])|\bcli\/(?:src|dist)\/main\.[cm]?[jt]s/i;

function guardOfTandem({ program, command, hatches }: ShellUnit): Caution | undefined {
  const why = "it may answer approvals or change the rules of this session";
  const [first] = command.words;
  if (program !== undefined && /^tandem(?:\.[cm]?[jt]s)?$/.test(program)) return { why, spelled: first!.text! };
  const runs = RUNNERS.test(program ?? "");
  const word = command.words.find(
    ({ text, source }, index) => (index === 0 || runs || hatches.length > 0) && TANDEM.test(text ?? source),
  );
  return word && { why, spelled: word.text ?? word.source };
}

/** These programs show names, sizes and types of files, never contents. */
const isLooking = ({ program = "", reach, hatches }: ShellUnit): boolean =>
  (NAMES_ONLY.has(program) || /^(?:du|df|tree|file|basename|dirname|which|type)$/.test(program)) &&
  reach === "reads" &&
  hatches.length === 0;

function guardOfSecrets(
  unit: ShellUnit,
  line: string,
  paths: SessionPaths,
  from: readonly string[],
): Caution | undefined {
  const { command, hatches, program } = unit;
  const { words, assigns } = command;
  const goes = program === "cd" || program === "pushd";
  if (isLooking(unit) && !goes) return undefined;
  // Its options may show the variables of other processes.
  const [unlisted] = program === "ps" ? hatches : [];
  if (unlisted !== undefined) return SECRET(words[unlisted]!.text ?? words[unlisted]!.source);
  const search = searchOf(program, words);
  // `git diff` compares folders outside a repository.
  const below = search !== undefined || program === "git" || unit.reach !== "reads" || hatches.length > 0;
  if (search === "here" && from.some((folder) => isSecret(folder, paths, true))) return SECRET("what is below it");
  const named = [...words, ...assigns.map(({ value }) => value)];
  for (const [index, word] of named.entries()) {
    if (isSecretWord(word, paths, from, below && !goes && index > 0)) return SECRET(word.text ?? word.source);
  }
  // If a word is unknown or is code, only its source text can be checked.
  const unclear = named.some(({ text }) => text === undefined);
  const told = unclear ? [line] : hatches.length > 0 ? words.map(({ text, source }) => text ?? source) : [];
  return told.some((text) => mentionsSecret(text, paths)) ? SECRET(line) : undefined;
}

export const SECRET = (spelled: string): Caution => ({
  why: "it may read secrets: Tandem's own folder, credentials or the memory of another process",
  spelled,
});

function isSecretWord(word: ShellWord, paths: SessionPaths, from: readonly string[], below: boolean): boolean {
  const text = word.text ?? knownGlob(word.source, paths.home);
  if (text === undefined) return false;
  const glob = word.glob || (word.text === undefined && /[*?[]/.test(text));
  for (const candidate of candidates(text)) {
    // `/dev/fd` resolves to the open files of the process that reads it.
    if (/^\/dev\/fd\/+\.\./.test(candidate)) return true;
    for (const folder of from) {
      const path = absolute(candidate, folder, paths.home);
      if (glob ? mayBeSecret(path, paths, below) : isSecret(path, paths, below)) return true;
    }
  }
  return false;
}

/** The glob that a word with `$HOME` or `{a,b}` amounts to; undefined if other parts of it are unknown. */
function knownGlob(source: string, home: string): string | undefined {
  const text = source
    .replaceAll('"', "")
    .replaceAll(/\$HOME\b|\$\{HOME\}/g, home)
    .replaceAll(/\{[^{}]*\}/g, "*");
  return /[$`'\\(]/.test(text) ? undefined : text;
}

function guardOfWrites(
  { reach, program, command }: ShellUnit,
  paths: SessionPaths,
  from: readonly string[],
): Caution | undefined {
  if (reach === "reads") return undefined;
  for (const [index, { text, glob }] of command.words.entries()) {
    if (text === undefined || index === 0) continue;
    // A commit message is not a path.
    if (program === "git" && /^(?:-[a-z]*m|--message)$/.test(command.words[index - 1]?.text ?? "")) continue;
    for (const candidate of candidates(text)) {
      for (const folder of from) {
        const path = absolute(candidate, folder, paths.home);
        const guarded = glob ? guardOfGlob(path, paths) : guardOf(path, "write", paths);
        if (guarded) return guarded;
      }
    }
  }
  return undefined;
}
