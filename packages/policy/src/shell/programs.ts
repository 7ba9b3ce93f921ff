import type { ShellWord } from "./shell-word.ts";

// Facts about programs. They allow nothing by themselves: they say which programs do no more than their words show, and which
// words make a program run other code.

/** These programs only read the files that their words name. */
const READERS = new Set(
  `ls cat head tail wc grep egrep fgrep rg pwd echo printf true false : test [ date uname whoami id
  groups which type basename dirname realpath readlink stat file du df diff cmp comm cut tr sort nl
  tac rev fold fmt column seq sleep md5sum sha1sum sha256sum sha512sum cksum sum od hexdump strings
  tree jq cd pushd popd dirs find sed awk gawk mawk exit return wait break continue arch nproc uptime
  free ps locale tty paste join expand`.split(/\s+/),
);

/** These programs change only the files that their words name. */
const WRITERS = new Set(
  `rm rmdir mv cp mkdir touch ln chmod chown chgrp tee truncate dd unlink install shred mktemp uniq
  split gzip gunzip xxd base64`.split(/\s+/),
);

/** Git subcommands that only read unless an option says otherwise. They may show files that no word names. */
const GIT_READS = new Set(
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

/** Words that make a program run or load code, or write to a file that no other word names. */
const HATCHES: readonly { programs: RegExp; words: RegExp }[] = [
  // Builtins that evaluate arithmetic also run commands in array subscripts.
  { programs: /^(?:test|\[|printf|exit|return|break|continue|wait|sleep)$/, words: /^-[vRp]$|\$\(|`|\[.*\$/ },
  { programs: /^(?:python|pypy)[\d.]*$/, words: /^-[a-zA-Z]*[cm]|^-$/ },
  {
    programs: /^(?:node|nodejs|bun|deno|tsx|ts-node)$/,
    words: /^-[a-z]*[epr]|^--(?:eval|print|require|import|loader)|^eval$|^-$/,
  },
  {
    programs: /^(?:perl|ruby|lua|luajit|php|osascript|tclsh|groovy|julia|Rscript|elixir|scala|swift)[\d.]*$/i,
    words: /^-[a-zA-Z]*[eErRnpiIM]|^--(?:eval|execute)|^-$/,
  },
  { programs: /^(?:[gmn]?awk)$/, words: /^-[fEil]|system|getline|[|>@]/ },
  { programs: /^find$/, words: /^-(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|files0-from)$/ },
  { programs: /^fd(?:find)?$/, words: /^-[a-zA-Z]*[xX]|^--exec/ },
  { programs: /^rg$/, words: /^--(?:pre|hostname-bin)/ },
  { programs: /^sort$/, words: /^-[a-zA-Z]*[oT]/ },
  { programs: /^tree$/, words: /^-[a-zA-Z]*[oR]/ },
  { programs: /^(?:date)$/, words: /^-[a-zA-Z]*s/ },
  { programs: /^file$/, words: /^-[a-zA-Z]*C/ },
  { programs: /^printf$/, words: /^-v/ },
  { programs: /^(?:g|bsd)?tar$/, words: /^-{0,2}[a-zA-Z]*[IF]/ },
  {
    programs: /^(?:ssh|scp|sftp|rsync)$/,
    words: /^-[a-zA-Z]*[oeFSJ]|^--(?:rsh|rsync-path)|proxycommand|localcommand/i,
  },
  { programs: /^(?:vim?|nvim|ex|view|ed|emacs|nano|less|more|man|pager)$/, words: /^/ },
  {
    programs: /^(?:npm|pnpm|yarn|bun)$/,
    words:
      /^(?:exec|x|dlx|explore|config|c|set|set-script|edit|node|create|init)$|^--(?:script-shell|shell|node-options|prefix|cwd|dir|userconfig|globalconfig)|^-C$/,
  },
  {
    programs: /^(?:docker|podman|nerdctl)$/,
    words:
      /^-[a-zA-Z]*v|^--(?:volume|mount|privileged|device|pid|ipc|cap-add|security-opt|entrypoint|host|config|context)|^(?:exec|cp|config|plugin)$/,
  },
  { programs: /^g?make$/, words: /^-[a-zA-Z]*[fECI]|=/ },
  {
    programs: /^(?:go|cargo|rustc|gcc|g\+\+|cc|clang|ld)$/,
    words: /^-{1,2}(?:exec|toolexec|vettool|config|wrapper|fplugin|load)|^@/,
  },
  { programs: /^curl$/, words: /^-[a-zA-Z]*[oOKTcDJ]/ },
  { programs: /^wget$/, words: /^/ },
  { programs: /^(?:zip|unzip|7za?)$/, words: /^-[a-zA-Z]*T/ },
  { programs: /^gh$/, words: /^(?:alias|extension|ext|config)$/ },
  { programs: /^(?:uniq|split|xxd|base64)$/, words: /^-[a-z]*r/ },
  { programs: /^dd$/, words: /^(?:if|of)=\/dev\// },
];

const GIT_BEFORE = /^(?:-c|-C|-p|--paginate|--config-env.*|--exec-path.*|--git-dir.*|--work-tree.*|--super-prefix.*)$/;
const GIT_PARTS = new Set(
  `config filter-branch bisect submodule difftool mergetool daemon shell upload-pack receive-pack
  archive instaweb credential hook maintenance send-email fast-import web--browse`.split(/\s+/),
);
const GIT_OPTIONS = /^-[a-zA-Z]*O|^-x|^(?:ext|fd)::/;
const GIT_LONG = `ext-diff textconv output open-files-in-pager upload-pack receive-pack exec config template
  separate-git-dir no-index tool extcmd edit editor`.split(/\s+/);
/** These letters are harmless in other git subcommands. */
const GIT_LETTERS: Readonly<Record<string, RegExp>> = { clone: /^-[a-zA-Z]*[uc]/, rebase: /^-[a-zA-Z]*x/ };

/** Long options with the same effect as HATCHES. Programs accept abbreviations, so any prefix counts. */
const LONG: readonly { programs: RegExp; names: readonly string[] }[] = [
  { programs: /^sort$/, names: ["compress-program", "output", "temporary-directory", "files0-from"] },
  {
    programs: /^(?:g|bsd)?tar$/,
    names: `checkpoint to-command use-compress-program rsh-command rmt-command info-script
      new-volume-script index-file`.split(/\s+/),
  },
  { programs: /^split$/, names: ["filter"] },
  { programs: /^install$/, names: ["strip-program"] },
  { programs: /^[gmn]?awk$/, names: ["file", "exec", "include", "load", "source", "dump-variables", "profile"] },
  { programs: /^g?make$/, names: ["eval", "file", "makefile", "directory", "include-dir"] },
  { programs: /^date$/, names: ["set"] },
  { programs: /^file$/, names: ["compile"] },
  {
    programs: /^curl$/,
    names: `output remote-name config upload-file cookie-jar dump-header trace libcurl engine etag-save
      hsts alt-svc stderr`.split(/\s+/),
  },
  { programs: /^(?:zip|unzip|7za?)$/, names: ["unzip-command"] },
];

/** Complete options that are prefixes of listed ones. */
const WHOLE = new Set(["--text"]);

function isLong(word: string, names: readonly string[]): boolean {
  const option = /^--([\w-]+)/.exec(word)?.[1];
  if (option === undefined || WHOLE.has(word)) return false;
  return names.some((name) => name.startsWith(option) || option.startsWith(name));
}

/** Returns the words that make a command run other code. An allow rule covers them only if it spells them out. */
export function hatchesOf(program: string | undefined, words: readonly ShellWord[]): number[] {
  if (program === undefined) return [];
  if (program === "git") return gitHatches(words);
  if (/^(?:g?sed)$/.test(program)) return sedHatches(words);
  const patterns = HATCHES.filter(({ programs }) => programs.test(program)).map(({ words: pattern }) => pattern);
  const names = LONG.filter(({ programs }) => programs.test(program)).flatMap((each) => each.names);
  return words.flatMap(({ text, source }, index) => {
    const word = text ?? source;
    return index > 0 && (isLong(word, names) || patterns.some((pattern) => pattern.test(word))) ? [index] : [];
  });
}

function gitHatches(words: readonly ShellWord[]): number[] {
  let part = words.findIndex(({ text }, index) => index > 0 && !text?.startsWith("-"));
  if (part === -1) part = words.length;
  const letters = GIT_LETTERS[words[part]?.text ?? ""];
  return words.flatMap(({ text, source }, index) => {
    if (index === 0) return [];
    const word = text ?? source;
    const isOption = (): boolean =>
      GIT_OPTIONS.test(word) || isLong(word, GIT_LONG) || (letters !== undefined && letters.test(word));
    const found = index < part ? GIT_BEFORE.test(word) : index === part ? GIT_PARTS.has(word) : isOption();
    return found ? [index] : [];
  });
}

/** Sed scripts that neither write nor run anything: one plain substitution, or lines to print. */
const PLAIN_SED =
  /^(?:s([/|,#])(?:(?!\1)[^\\]|\\[^\n])*\1(?:(?!\1)[^\\]|\\[^\n])*\1[gpiI\d]*|(?:\d+|\$)?(?:,(?:\d+|\$))?[pdq=])$/;

function sedHatches(words: readonly ShellWord[]): number[] {
  const script = words.findIndex(({ text }, index) => index > 0 && !text?.startsWith("-"));
  return words.flatMap(({ text }, index) => {
    if (index === 0) return [];
    if (index === script) return text !== undefined && PLAIN_SED.test(text) ? [] : [index];
    return text === undefined || /^-[a-zA-Z]*[ief]|^--(?!quiet|silent|regexp-extended)/.test(text) ? [index] : [];
  });
}

/** Normalises a program's name. */
export const programName = (text: string): string =>
  text
    .replace(/^.*[/\\]/, "")
    .replace(/\.(?:exe|cmd|bat|com)$/i, "")
    .toLowerCase();
