import type { ShellCommand } from "./shell-line.ts";
import type { ShellWord } from "./shell-word.ts";
import { endOfExec } from "./tables/find-words.ts";
import { LANGUAGE_PROGRAMS, languageName } from "./tables/language-programs.ts";

/** The commands that a wrapper program runs according to its words. */
export interface Inner {
  /** Commands given as separate words. */
  commands: ShellWord[][];
  /** Commands given as shell text. */
  lines: { text: string; inside: string }[];
  /** Assignments for the commands. */
  assigns: ShellCommand["assigns"];
  /** True if the program only runs these commands. */
  transparent: boolean;
  /** The reason why it may run more. */
  doubt: string | undefined;
}

interface Options {
  /** Short options without a value. */
  flags: string;
  /** Short options with a value. */
  values: string;
  /** Long options, with their value in the same word. */
  long?: string;
  /** The number of operands before the command. */
  operands?: number;
  transparent?: boolean;
}

/** Programs that run the command named by their words. */
const CALLING: Readonly<Record<string, Options>> = {
  command: { flags: "p", values: "", transparent: true },
  builtin: { flags: "", values: "", transparent: true },
  noglob: { flags: "", values: "", transparent: true },
  nocorrect: { flags: "", values: "", transparent: true },
  nohup: { flags: "", values: "", transparent: true },
  time: { flags: "pv", values: "", transparent: true },
  nice: { flags: "", values: "n", long: "adjustment", transparent: true },
  ionice: { flags: "t", values: "cn", long: "class classdata", transparent: true },
  stdbuf: { flags: "", values: "ioe", long: "input output error", transparent: true },
  timeout: {
    flags: "v",
    values: "ks",
    long: "signal kill-after preserve-status foreground verbose",
    operands: 1,
    transparent: true,
  },
  setsid: { flags: "cfw", values: "", transparent: true },
  exec: { flags: "cl", values: "a" },
  sudo: { flags: "nEHkSbAPi", values: "ugpC", long: "user group non-interactive" },
  doas: { flags: "nLs", values: "uC" },
  env: { flags: "i0v", values: "uC", long: "unset ignore-environment" },
  busybox: { flags: "", values: "" },
  toybox: { flags: "", values: "" },
  xargs: {
    flags: "0rtpx",
    values: "nPLIdsaE",
    long: "null no-run-if-empty max-args max-procs max-lines replace delimiter verbose",
  },
  chronic: { flags: "ve", values: "", transparent: true },
};

const NO_VALUE = /^(?:null|no-run-if-empty|preserve-status|foreground|verbose|ignore-environment|non-interactive)$/;

const SHELLS = new Set(["sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "rbash"]);
const FOUND = /^-(?:exec|execdir|ok|okdir)$/;

const NOTHING: Inner = { commands: [], lines: [], assigns: [], transparent: false, doubt: undefined };
const doubtful = (doubt: string): Inner => ({ ...NOTHING, doubt });

export function findInner(program: string, command: ShellCommand): Inner {
  const { words } = command;
  if (SHELLS.has(program)) return shellInner(program, command);
  if (program === "fish" || program === "pwsh" || program === "powershell" || program === "cmd") {
    return doubtful(`\`${program}\` is another shell`);
  }
  if (program === "eval") return joined(words.slice(1), "eval");
  if (program === "trap") {
    const [, code] = words;
    return code === undefined || code.text === "-" ? NOTHING : joined([code], "trap");
  }
  if (program === "watch") return doubtful("`watch` runs a line of its own");
  if (program === "find") return foundInner(words);
  if (Object.hasOwn(LANGUAGE_PROGRAMS, languageName(program)) && readsItsProgram(words)) {
    return doubtful(`\`${program}\` runs what it is given`);
  }
  const options = Object.hasOwn(CALLING, program) ? CALLING[program] : undefined;
  if (!options) return NOTHING;
  // `command -v` and `command -V` only look up a command.
  if (program === "command" && /^-[vV]+$/.test(words[1]?.text ?? "")) return NOTHING;
  return calledInner(program, words, options);
}

/** Without a script, or with `-`, an interpreter runs its standard input. */
function readsItsProgram(words: readonly ShellWord[]): boolean {
  const script = words.slice(1).find(({ text }) => text === undefined || !/^-[BEIOSsuqbw]+$/.test(text));
  return script === undefined || script.text === "-" || /^\/(?:dev|proc)\//.test(script.text ?? "");
}

function calledInner(program: string, words: readonly ShellWord[], options: Options): Inner {
  let at = skipOptions(words, options);
  if (at === undefined) return doubtful(`what \`${program}\` calls is not plain`);
  const assigns: Inner["assigns"] = [];
  if (program === "env" || program === "sudo") {
    for (; at < words.length; at += 1) {
      const name = /^([A-Za-z_]\w*)=/.exec(words[at]!.text ?? words[at]!.source)?.[1];
      if (name === undefined) break;
      assigns.push({ name, value: words[at]! });
    }
  }
  const called = words.slice(at + (options.operands ?? 0));
  // The words that xargs adds are unknown.
  if (program === "xargs") called.push({ source: "…", text: undefined, glob: false, home: false, bare: false });
  const transparent = options.transparent === true && called.length > 0;
  return { ...NOTHING, commands: called.length > 0 ? [called] : [], assigns, transparent };
}

/** Returns the index of the first word after the options; undefined if uncertain. */
function skipOptions(words: readonly ShellWord[], { flags, values, long = "" }: Options): number | undefined {
  let at = 1;
  for (; at < words.length; at += 1) {
    const { text, glob } = words[at]!;
    if (text === undefined || glob) return undefined;
    if (text === "--") return at + 1;
    if (!text.startsWith("-") || text === "-") return at;
    if (text.startsWith("--")) {
      const [name] = text.slice(2).split("=");
      // Without `=`, it is unknown whether the next word is the option's value.
      if (name && long.split(" ").includes(name) && (text.includes("=") || NO_VALUE.test(name))) continue;
      return undefined;
    }
    // `nice -10`
    if (/^-\d+$/.test(text) && values.includes("n")) continue;
    for (let letter = 1; letter < text.length; letter += 1) {
      const option = text[letter]!;
      if (flags.includes(option)) continue;
      if (!values.includes(option)) return undefined;
      if (letter === text.length - 1) at += 1;
      break;
    }
  }
  return at > words.length ? undefined : at;
}

function shellInner(program: string, { words, redirects }: ShellCommand): Inner {
  let runsText = false;
  let at = 1;
  for (; at < words.length; at += 1) {
    const text = words[at]!.text;
    if (text === undefined || words[at]!.glob) return doubtful(`what \`${program}\` runs depends on a variable`);
    if (!/^[-+]./.test(text)) break;
    if (/^-[a-zA-Z]*c/.test(text)) runsText = true;
    // Reject options with a value, and options that read other files first.
    if (!/^-[celuxfvin]+$/.test(text)) return doubtful(`what \`${program}\` runs is not plain`);
  }
  if (runsText) return words[at] ? joined([words[at]!], `${program} -c`) : NOTHING;
  // A script file: only its name is known.
  if (words[at]) return NOTHING;
  const given = redirects.find(({ operator }) => operator === "<<" || operator === "<<<");
  return given ? joined([given.target], program) : doubtful(`\`${program}\` runs what it is given`);
}

function foundInner(words: readonly ShellWord[]): Inner {
  const commands: ShellWord[][] = [];
  for (let at = 1; at < words.length; at += 1) {
    const { text } = words[at]!;
    if (text === undefined) return { ...NOTHING, commands, doubt: "what `find` does depends on a variable" };
    if (!FOUND.test(text)) continue;
    const end = endOfExec(words, at);
    const called = words.slice(at + 1, end === -1 ? undefined : end);
    commands.push(called.map((word) => (word.text?.includes("{}") ? { ...word, text: undefined } : word)));
    if (end === -1) return { ...NOTHING, commands, doubt: "what `find` runs does not end" };
    at = end;
  }
  return { ...NOTHING, commands };
}

function joined(words: readonly ShellWord[], inside: string): Inner {
  const texts = words.map(({ text, glob }) => (glob ? undefined : text));
  if (texts.some((text) => text === undefined)) return doubtful(`what \`${inside}\` runs depends on a variable`);
  return { ...NOTHING, lines: [{ text: texts.join(" "), inside }] };
}
