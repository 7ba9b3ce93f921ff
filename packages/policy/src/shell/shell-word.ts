/** A word of a command, as far as it is known before expansion. */
export interface ShellWord {
  /** The source text. */
  source: string;
  /** The value that the program receives; undefined if it depends on variables, command output or braces. */
  text: string | undefined;
  /** The word is a glob that may expand to file names; `text` is then the pattern. */
  glob: boolean;
  /** `text` starts with `~` for the user's home. */
  home: boolean;
  /** Unquoted and without backslashes: it may be a shell keyword such as `if`. */
  bare: boolean;
}

/** The reason why a line cannot be parsed with certainty. */
export class Doubt extends Error {}

export const literalWord = (text: string): ShellWord => ({ source: text, text, glob: false, home: false, bare: false });
export const unknownWord = (source: string): ShellWord => ({ ...literalWord(source), text: undefined });

/** Reads the words of a line; `CommandReader` reads the commands between and inside them. */
export abstract class WordReader {
  protected readonly source: string;
  protected at: number;

  constructor(source: string, at: number) {
    this.source = source;
    this.at = at;
  }

  /** Parses the commands from that position to the closing parenthesis. Returns the position after it. */
  protected abstract nested(at: number, inside: string): number;
  /** Parses the commands of another text. */
  protected abstract nestedIn(source: string, inside: string): void;
  /** Whether the text of a here-document starts after this line. */
  protected abstract get isBeforeHereText(): boolean;

  protected blanks(): void {
    for (;;) {
      const char = this.source[this.at];
      if (char === " " || char === "\t") this.at += 1;
      else if (char === "\\" && this.source[this.at + 1] === "\n") this.at += 2;
      else if (char === "#") {
        const end = this.source.indexOf("\n", this.at);
        this.at = end === -1 ? this.source.length : end;
      } else return;
    }
  }

  protected word(atCommand = false): ShellWord {
    const start = this.at;
    let text: string | undefined = "";
    let glob = false;
    let bare = true;
    let braces = "";
    const add = (more: string | undefined): void => {
      text = text === undefined || more === undefined ? undefined : text + more;
    };
    for (;;) {
      const char = this.source[this.at];
      const next = this.source[this.at + 1];
      if (char === undefined || " \t\n;&|".includes(char)) break;
      if ((char === "<" || char === ">") && next === "(") {
        this.at = this.nested(this.at + 2, `${char}(…)`);
        add(undefined);
        bare = false;
      } else if ("<>)".includes(char)) {
        break;
      } else if (char === "(") {
        throw new Doubt("it has a parenthesis where none is expected");
      } else if (char === "\\") {
        if (next === undefined) throw new Doubt("it ends with a backslash");
        this.at += 2;
        bare = false;
        if (next !== "\n") add(next);
      } else if (char === "'") {
        const end = this.source.indexOf("'", this.at + 1);
        if (end === -1) throw new Doubt("a quote is not closed");
        add(this.source.slice(this.at + 1, end));
        this.at = end + 1;
        bare = false;
      } else if (char === '"') {
        this.at += 1;
        add(this.doubleQuoted('"'));
        bare = false;
      } else if (char === "$" || char === "`") {
        add(this.#expansion(true));
        bare = false;
      } else {
        if ("*?[".includes(char)) glob = true;
        if ("{},".includes(char)) braces += char;
        if (char === "." && next === ".") braces += "..";
        add(char);
        this.at += 1;
      }
    }
    if (this.at === start) throw new Doubt("a word is missing");
    const source = this.source.slice(start, this.at);
    if (this.isBeforeHereText && source.includes("\n")) throw new Doubt("a here-document begins inside of a word");
    // In zsh, braces group commands where bash reads them as text.
    if (bare && /^(?:\}|\{(?!\}).*)$/s.test(source) && !(atCommand && (source === "{" || source === "}"))) {
      throw new Doubt("shells read its braces differently");
    }
    // `{a,b}` and `{1..3}` expand to several words.
    if (/\{.*(?:,|\.\.).*\}/.test(braces)) text = undefined;
    const home = source.startsWith("~");
    // `~name` is another user's home; in zsh, `=name` is a program's path.
    if ((home && !/^~(?:\/|$)/.test(source)) || source.startsWith("=")) text = undefined;
    if (/^\{\w+\}$/.test(source) && "<>".includes(this.source[this.at] ?? " ")) {
      throw new Doubt("a redirection names its descriptor");
    }
    // `[` alone is a program.
    return { source, text, glob: glob && source !== "[", home: home && text !== undefined, bare };
  }

  /** Parses double-quoted text after the opening quote; without `close`, up to the end. */
  protected doubleQuoted(close: '"' | undefined): string | undefined {
    let text: string | undefined = "";
    const add = (more: string | undefined): void => {
      text = text === undefined || more === undefined ? undefined : text + more;
    };
    for (;;) {
      const char = this.source[this.at];
      if (char === undefined) {
        if (close) throw new Doubt("a quote is not closed");
        return text;
      }
      if (char === close) {
        this.at += 1;
        return text;
      }
      if (char === "\\") {
        const next = this.source[this.at + 1] ?? "";
        this.at += 1 + next.length;
        if (next === "\n") continue;
        add(next !== "" && (`$\`\\`.includes(next) || next === close) ? next : `\\${next}`);
      } else if (char === "$" || char === "`") {
        add(this.#expansion(false));
      } else {
        add(char);
        this.at += 1;
      }
    }
  }

  /** Parses an expansion at `$` or a backtick, with the commands in it. Returns its text if known. */
  #expansion(outside: boolean): string | undefined {
    const rest = this.source.slice(this.at);
    if (rest.startsWith("`")) return this.#backticks(outside);
    if (rest.startsWith("$'") && outside) return this.#ansi();
    if (rest.startsWith('$"') && outside) throw new Doubt("it has a translated string");
    if (rest.startsWith("$((")) {
      // Names in arithmetic may run commands, so only literals are accepted.
      const sum = /^\$\(\([\d\s+\-*/%]*\)\)/.exec(rest);
      if (!sum) throw new Doubt("it computes with `$((`");
      this.at += sum[0].length;
      return undefined;
    }
    if (rest.startsWith("$(")) {
      this.at = this.nested(this.at + 2, "$(…)");
      return undefined;
    }
    const variable = /^\$(?:[A-Za-z_]\w*|[\d?$#!@*-]|\{#?(?:[A-Za-z_]\w*|[\d?$#!@*-])\})/.exec(rest);
    if (variable) {
      this.at += variable[0].length;
      return undefined;
    }
    if (/^\$[[{]/.test(rest)) throw new Doubt("it changes a variable where it uses it");
    if (/^\$[=~^+]/.test(rest)) throw new Doubt("shells read a `$` in it differently");
    this.at += 1;
    return "$";
  }

  #backticks(outside: boolean): undefined {
    let inner = "";
    for (let at = this.at + 1; ; at += 1) {
      const char = this.source[at];
      if (char === undefined) throw new Doubt("a backtick is not closed");
      if (char === "`") {
        this.at = at + 1;
        break;
      }
      const next = this.source[at + 1] ?? "";
      if (char === "\\" && next !== "" && ("$`\\".includes(next) || (!outside && next === '"'))) at += 1;
      inner += this.source[at];
    }
    this.nestedIn(inner, "`…`");
    return undefined;
  }

  /** Parses `$'…'` with the escapes that all shells share. */
  #ansi(): string {
    const found = /^\$'((?:[^'\\]|\\[^])*)'/.exec(this.source.slice(this.at));
    if (!found) throw new Doubt("a quote is not closed");
    this.at += found[0].length;
    return found[1]!.replace(/\\(?:x([\da-fA-F]{2})|([0-7]{3})|([ntr\\'"])|[^])/g, (escape, hex, octal, plain) => {
      if (hex || octal) {
        const code = Number.parseInt(hex ?? octal, hex ? 16 : 8);
        if (code < 0x20 || code > 0x7e) throw new Doubt("it has characters that cannot be seen");
        return String.fromCharCode(code);
      }
      if (plain) return { n: "\n", t: "\t", r: "\r" }[plain as string] ?? (plain as string);
      throw new Doubt(`shells read \`${escape}\` differently`);
    });
  }
}
