import type { ShellWord } from "./shell-word.ts";

interface Options {
  /** Short options with a value. */
  values: string;
  /** Long options without a value. All others consume the next word, so that it is not read as a folder. */
  flags: RegExp;
}

const GREP: Options = {
  values: "ABCDdefm",
  flags:
    /^--(?:r|de|i|v|w|l|n|q|s|z|o|te|u|H|no-|on|co(?:unt|lou?r)?$|ex(?:tended)|fi(?:xed|les)|ba|pe|byte|line|word|quiet|silent|invert|ignore|only|null|text|with)/,
};
const RG: Options = {
  values: "ABCEMTdefgjmrt",
  flags:
    /^--(?:hidden|files|no-.*|json|vimgrep|line-number|ignore-case|smart-case|case-sensitive|fixed-strings|count.*|files-with.*|multiline|only-matching|word-regexp|line-regexp|pcre2|heading|text|follow|trim|stats|column|pretty|quiet|invert-match|null|with-filename|unrestricted|search-zip|crlf|passthru|debug)$/,
};

/** The folders that a search program reads: those in its words, or the current folder if there are none. */
export function searchOf(program: string | undefined, words: readonly ShellWord[]): "given" | "here" | undefined {
  const texts = words.slice(1).map(({ text, source }) => text ?? source);
  switch (program) {
    case "rg":
    case "ripgrep":
      return placed(texts, RG, texts.includes("--files"));
    case "grep":
    case "egrep":
    case "fgrep":
    case "zgrep":
      return texts.some(isRecursive) ? placed(texts, GREP, false) : undefined;
    case "rgrep":
      return placed(texts, GREP, false);
    case "find":
    case "fd":
    case "fdfind":
    case "ag":
    case "ack":
      return texts.some((text) => !text.startsWith("-")) && program === "find" && !texts[0]?.startsWith("-")
        ? "given"
        : "here";
    // Without `-r` too, it compares the files of two folders.
    case "diff":
      return "given";
    default:
      return undefined;
  }
}

const isRecursive = (text: string): boolean =>
  /^-[a-zA-Z0-9]*[rR]|^--(?:r|de|di)|^-[a-zA-Z]*d/.test(text) || text === "recurse";

function placed(texts: readonly string[], { values, flags }: Options, hasPattern: boolean): "given" | "here" {
  let operands = hasPattern ? 1 : 0;
  for (let at = 0; at < texts.length; at += 1) {
    const text = texts[at]!;
    if (text === "--") {
      operands += texts.length - at - 1;
      break;
    }
    if (text.startsWith("--")) {
      if (/^--(?:reg|file$|file=)/.test(text)) operands += 1;
      if (!text.includes("=") && !flags.test(text)) at += 1;
    } else if (/^-./.test(text)) {
      const letter = text
        .slice(1)
        .split("")
        .findIndex((each) => values.includes(each));
      if (letter === -1) continue;
      if (/[ef]/.test(text[letter + 1]!)) operands += 1;
      if (letter === text.length - 2) at += 1;
    } else operands += 1;
  }
  return operands > 1 ? "given" : "here";
}
