import type { ShellWord } from "./shell-line.ts";

// What is known of programs. Nothing here allows anything: it says whose words tell all that they do, and which words make a
// program run other code.

/** They show what their words name, and change nothing. */
const READERS = new Set([
  ...["ls", "cat", "head", "tail", "wc", "grep", "egrep", "fgrep", "rg", "pwd", "echo", "printf", "true", "false", ":"],
  ...["test", "[", "date", "uname", "whoami", "id", "groups", "which", "type", "basename", "dirname", "realpath"],
  ...["readlink", "stat", "file", "du", "df", "diff", "cmp", "comm", "cut", "tr", "sort", "nl", "tac", "rev", "fold"],
  ...["fmt", "column", "seq", "sleep", "md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "sum", "od", "hexdump"],
  ...["strings", "tree", "jq", "cd", "pushd", "popd", "dirs", "find", "sed", "awk", "gawk", "mawk", "exit", "return"],
  ...["wait", "break", "continue", "arch", "nproc", "uptime", "free", "ps", "locale", "tty", "paste", "join", "expand"],
]);

/** They change what their words name, and nothing else. */
const WRITERS = new Set([
  ...["rm", "rmdir", "mv", "cp", "mkdir", "touch", "ln", "chmod", "chown", "chgrp", "tee", "truncate", "dd", "unlink"],
  ...["install", "shred", "mktemp", "uniq", "split", "gzip", "gunzip", "xxd", "base64"],
]);

/** Parts of git that show, unless an option says otherwise; what they show is not named by words alone. */
const GIT_READS = new Set([
  ...["status", "log", "diff", "show", "blame", "shortlog", "describe", "rev-parse", "rev-list", "ls-files", "ls-tree"],
  ...[
    "cat-file",
    "merge-base",
    "reflog",
    "name-rev",
    "whatchanged",
    "count-objects",
    "check-ignore",
    "grep",
    "version",
  ],
]);
const GIT_WRITES = new Set(["add", "mv", "init", "branch", "tag"]);

/** Naming a folder to these reveals nothing of what is in its files. */
export const NAMES_ONLY = new Set([
  "cd",
  "pushd",
  "ls",
  "echo",
  "printf",
  "test",
  "[",
  "mkdir",
  "stat",
  "realpath",
  "pwd",
]);

export type Reach = "reads" | "writes" | "unknown";

/** How far a command goes beyond its words; `unknown` where it may do anything. */
export function reachOf(program: string | undefined, words: readonly ShellWord[]): Reach {
  if (program === undefined) return "unknown";
  // By its name alone: what lies at a path of its own may be anything.
  if (words[0]?.text !== program) return /^(?:\/usr)?\/bin\//.test(words[0]?.text ?? "") ? named(program) : "unknown";
  if (program !== "git") return named(program);
  const part = words.slice(1).find(({ text }) => !text?.startsWith("-"))?.text ?? "";
  return GIT_READS.has(part) ? "reads" : GIT_WRITES.has(part) ? "writes" : "unknown";
}

const named = (program: string): Reach =>
  READERS.has(program) ? "reads" : WRITERS.has(program) ? "writes" : "unknown";

/** Words that make a program run code of its caller's, load it, or write to where no other word says. */
const HATCHES: readonly { programs: RegExp; words: RegExp }[] = [
  // Parts of the shell that compute with their words, and run what stands in a subscript.
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
  { programs: /^(?:[gmn]?awk)$/, words: /^-[fEil]|^--(?:file|exec|include|load)|system|getline|[|>@]/ },
  { programs: /^find$/, words: /^-(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|files0-from)$/ },
  { programs: /^fd(?:find)?$/, words: /^-[a-zA-Z]*[xX]|^--exec/ },
  { programs: /^rg$/, words: /^--(?:pre|hostname-bin)/ },
  { programs: /^sort$/, words: /^-[a-zA-Z]*[oT]|^--(?:o|compress|temp|files0)/ },
  { programs: /^tree$/, words: /^-[a-zA-Z]*[oR]/ },
  { programs: /^(?:date)$/, words: /^-[a-zA-Z]*s|^--s/ },
  { programs: /^file$/, words: /^-[a-zA-Z]*C|^--compile/ },
  { programs: /^printf$/, words: /^-v/ },
  {
    programs: /^(?:g|bsd)?tar$/,
    words: /^-{0,2}[a-zA-Z]*[IF]|^--(?:checkpoint|to-command|use-comp|rsh|info-script|new-vol|index-file)/,
  },
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
  { programs: /^g?make$/, words: /^-[a-zA-Z]*[fECI]|^--(?:eval|file|makefile|directory|include)|=/ },
  {
    programs: /^(?:go|cargo|rustc|gcc|g\+\+|cc|clang|ld)$/,
    words: /^-{1,2}(?:exec|toolexec|vettool|config|wrapper|fplugin|load)|^@/,
  },
  {
    programs: /^curl$/,
    words: /^-[a-zA-Z]*[oOKTcDJ]|^--(?:output|remote|config|upload|cookie-jar|dump|trace|libcurl|engine|etag-save)/,
  },
  { programs: /^wget$/, words: /^/ },
  { programs: /^(?:zip|unzip|7za?)$/, words: /^-[a-zA-Z]*T|^--unzip/ },
  { programs: /^gh$/, words: /^(?:alias|extension|ext|config)$/ },
  { programs: /^(?:uniq|split|xxd|base64)$/, words: /^--filter|^-[a-z]*r/ },
  { programs: /^dd$/, words: /^(?:if|of)=\/dev\// },
];

const GIT_BEFORE = /^(?:-c|-C|-p|--paginate|--config-env.*|--exec-path.*|--git-dir.*|--work-tree.*|--super-prefix.*)$/;
const GIT_PARTS = new Set([
  "config",
  "filter-branch",
  "bisect",
  "submodule",
  "difftool",
  "mergetool",
  "daemon",
  "shell",
  "upload-pack",
  "receive-pack",
  "archive",
  "instaweb",
  "credential",
  "hook",
  "maintenance",
  "send-email",
  "fast-import",
  "web--browse",
]);
const GIT_OPTIONS =
  /^--(?:ext-diff|textconv|output|open-files-in-pager|upload-pack|receive-pack|exec|config|template|separate-git-dir|no-index|tool|extcmd|edit|editor)|^-[a-z]*O|^-x|^(?:ext|fd)::/;

/** Which words make the command run what they or others say; an allow rule covers these only if it spells them out. */
export function hatchesOf(program: string | undefined, words: readonly ShellWord[]): number[] {
  if (program === undefined) return [];
  if (program === "git") return gitHatches(words);
  if (/^(?:g?sed)$/.test(program)) return sedHatches(words);
  const patterns = HATCHES.filter(({ programs }) => programs.test(program)).map(({ words: pattern }) => pattern);
  return words.flatMap(({ text, source }, index) =>
    index > 0 && patterns.some((pattern) => pattern.test(text ?? source)) ? [index] : [],
  );
}

function gitHatches(words: readonly ShellWord[]): number[] {
  let part = words.findIndex(({ text }, index) => index > 0 && !text?.startsWith("-"));
  if (part === -1) part = words.length;
  return words.flatMap(({ text, source }, index) => {
    if (index === 0) return [];
    const word = text ?? source;
    const found = index < part ? GIT_BEFORE.test(word) : index === part ? GIT_PARTS.has(word) : GIT_OPTIONS.test(word);
    return found ? [index] : [];
  });
}

/** What sed may be told without that it writes or runs something: one plain replacement, or which lines to show. */
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

/** The name by which a program is known, however it is called. */
export const programName = (text: string): string =>
  text
    .replace(/^.*[/\\]/, "")
    .replace(/\.(?:exe|cmd|bat|com)$/i, "")
    .toLowerCase();
