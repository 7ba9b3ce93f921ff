import { unlistedWords, type OptionTable } from "./option-table.ts";
import type { ShellWord } from "./shell-word.ts";
import { BUILD_PROGRAMS } from "./tables/build-programs.ts";
import { FILE_PROGRAMS } from "./tables/file-programs.ts";
import { unlistedFindWords } from "./tables/find-words.ts";
import { GIT } from "./tables/git-programs.ts";
import { LANGUAGE_PROGRAMS, languageName } from "./tables/language-programs.ts";
import { NETWORK_PROGRAMS } from "./tables/network-programs.ts";
import { OTHER_PROGRAMS } from "./tables/other-programs.ts";
import { SCRIPT_PROGRAMS } from "./tables/script-programs.ts";
import { SEARCH_PROGRAMS } from "./tables/search-programs.ts";
import { TEXT_PROGRAMS } from "./tables/text-programs.ts";

// Facts about programs. They allow nothing by themselves: they say which programs do no more than their words show. The tables
// list, for each known program, the words that are known to be harmless.

/** These programs only read the files that their words name. */
export const READERS: ReadonlySet<string> = new Set(
  `ls cat head tail wc grep egrep fgrep rg pwd echo printf true false : test [ date uname whoami id
  groups which type basename dirname realpath readlink stat file du df diff cmp comm cut tr sort nl
  tac rev fold fmt column seq sleep md5sum sha1sum sha256sum sha512sum cksum sum od hexdump strings
  tree jq cd pushd popd dirs find sed awk gawk mawk exit return wait break continue arch nproc uptime
  free ps locale tty paste join expand`.split(/\s+/),
);

/** These programs change only the files that their words name. */
const WRITERS = new Set(
  `rm rmdir mv cp mkdir touch ln chmod chown chgrp tee truncate dd unlink install shred mktemp uniq
  xxd base64`.split(/\s+/),
);

/** Git subcommands that only read unless an option says otherwise. They may show files that no word names. */
export const GIT_READS: ReadonlySet<string> = new Set(
  `status log diff show blame shortlog describe rev-parse rev-list ls-files ls-tree cat-file
  merge-base name-rev whatchanged count-objects check-ignore grep version`.split(/\s+/),
);
const GIT_WRITES = new Set(["add", "mv", "init", "branch", "tag"]);

/** These programs reveal no file contents of a folder. */
export const NAMES_ONLY = new Set("cd pushd ls echo printf test [ mkdir stat realpath pwd".split(" "));

const CONNECTING =
  /^(?:curl|wget2?|aria2c|https?|xh|ssh|scp|sftp|rsync|nc|ncat|netcat|socat|telnet|l?ftp|openssl|dig|host|nslookup|ping|lynx|links|w3m)$/;

/** Whether the program connects to a host that its words name. */
export function connects(program: string | undefined, words: readonly ShellWord[]): boolean {
  if (program !== "git") return CONNECTING.test(program ?? "");
  return words.some(({ text }) => /^(?:clone|fetch|pull|push|ls-remote|remote|submodule)$/.test(text ?? ""));
}

const GIT_SHOWS = new Set("grep diff show whatchanged blame cat-file format-patch stash archive".split(" "));

/** Whether a git subcommand shows contents of files that no word names. */
export function showsContents(program: string | undefined, words: readonly ShellWord[]): boolean {
  if (program !== "git") return false;
  const texts = words.slice(1).map(({ text, source }) => text ?? source);
  const part = texts.find((text) => !text.startsWith("-")) ?? "";
  if (texts.some((text) => /^--(?:stat|shortstat|numstat|name-only|name-status|no-patch|s)$|^-s$/.test(text)))
    return !texts.every((text) => !/^-[a-zA-Z]*[pu]|^--(?:p|u|c)/.test(text));
  if (part === "log" || part === "reflog")
    return texts.some((text) => /^-[a-zA-Z0-9]*[puUcGSL]|^--(?:p|u|c)/.test(text));
  return GIT_SHOWS.has(part);
}

export type Reach = "reads" | "writes" | "unknown";

/** The effects that a command can have beyond its words; `unknown` if it may do anything. */
export function reachOf(program: string | undefined, words: readonly ShellWord[]): Reach {
  if (program === undefined) return "unknown";
  // Programs are known by bare name; a file at another path may be anything.
  if (words[0]?.text !== program) return /^(?:\/usr)?\/bin\//.test(words[0]?.text ?? "") ? named(program) : "unknown";
  if (program !== "git") return named(program);
  const [part = "", next] = words.slice(1).flatMap(({ text = "" }) => (text.startsWith("-") ? [] : [text]));
  // `git reflog expire` and `delete` remove entries.
  if (part === "reflog") return next === undefined || next === "show" ? "reads" : "unknown";
  return GIT_READS.has(part) ? "reads" : GIT_WRITES.has(part) ? "writes" : "unknown";
}

const named = (program: string): Reach =>
  READERS.has(program) ? "reads" : WRITERS.has(program) ? "writes" : "unknown";

const TABLES: Readonly<Record<string, OptionTable>> = {
  ...TEXT_PROGRAMS,
  ...FILE_PROGRAMS,
  ...SEARCH_PROGRAMS,
  ...SCRIPT_PROGRAMS,
  ...NETWORK_PROGRAMS,
  ...LANGUAGE_PROGRAMS,
  ...BUILD_PROGRAMS,
  ...OTHER_PROGRAMS,
  git: GIT,
};

/** Other names of programs. */
const ALIASES: Readonly<Record<string, string>> = {
  gsed: "sed",
  gmake: "make",
  fdfind: "fd",
  ripgrep: "rg",
  "7za": "7z",
};

/** The table of a known program. */
function tableOf(program: string): OptionTable | undefined {
  const name = Object.hasOwn(ALIASES, program) ? ALIASES[program]! : languageName(program);
  return Object.hasOwn(TABLES, name) ? TABLES[name] : undefined;
}

/**
 * Returns the words that may make a known program run other code, or write to a file that no other word names: all that its
 * table does not list. An allow rule covers them only if it spells them out.
 */
export function hatchesOf(program: string | undefined, words: readonly ShellWord[]): number[] {
  if (program === undefined) return [];
  if (program === "find") return unlistedFindWords(words);
  const table = tableOf(program);
  if (program === "ps" && showsVariables(words)) return [words.length - 1];
  return table ? [...new Set(unlistedWords(words, table))] : [];
}

/** Without a user named x, ps reads `-ux` as BSD options, and then a `-e` in any other word, too. */
const showsVariables = (words: readonly ShellWord[]): boolean =>
  words.some(({ text }) => /^-\w*u(?:x|$)/.test(text ?? "")) && words.some(({ text }) => /^-\w*e/.test(text ?? ""));

/** Normalises a program's name. */
export const programName = (text: string): string =>
  text
    .replace(/^.*[/\\]/, "")
    .replace(/\.(?:exe|cmd|bat|com)$/i, "")
    .toLowerCase();
