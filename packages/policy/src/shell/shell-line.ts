/** A word of a command, as far as it is known before the shell has looked at it. */
export interface ShellWord {
  /** As it was written. */
  source: string;
  /** What the program gets; undefined where that depends on variables, on what commands print, or on braces. */
  text: string | undefined;
  /** It may become the names of files: `text` is the pattern then. */
  glob: boolean;
  /** `text` begins with a `~` that stands for the user's home. */
  home: boolean;
  /** No quote and no backslash: it may be a word of the shell itself, such as `if`. */
  bare: boolean;
}

export interface Redirect {
  /** `<`, `>`, `>>`, `>|`, `<>`, `&>`, `&>>`, `>&`, `<&`, `<<<` or `<<`; the target of the last is the text below it. */
  operator: string;
  target: ShellWord;
}

/** One program with its words, or only assignments or redirections. */
export interface ShellCommand {
  words: ShellWord[];
  redirects: Redirect[];
  /** Variables that are set for it, or for what follows where it has no words. */
  assigns: { name: string; value: ShellWord }[];
  /** As it was written, more or less: for people. */
  source: string;
  /** What else was read to find it: `$(…)`, `bash -c`. */
  inside: string | undefined;
}

export interface ShellLine {
  /** Everything that was found, also inside of substitutions, in the order in which it stands there. */
  commands: ShellCommand[];
  /** Why the line may do something else than these commands; undefined where it is understood as a whole. */
  doubt: string | undefined;
}

/** Longer lines are programs rather than commands, and nobody reads them before they allow them. */
const MAX_LENGTH = 20_000;
const MAX_DEPTH = 12;

/** Characters that shells, terminals and people read differently. Space, tab and newline are not among them. */
const STRANGE = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\u180e]/u;

/** Words that order commands and are none themselves. What stands after them is at the place of a command again. */
const ORDERING = new Set(["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{", "}"]);
/** What this reader does not follow, in bash or in zsh. */
const COMPOUND = new Set([
  ...["case", "esac", "select", "function", "coproc", "[[", "]]", "repeat", "foreach", "end", "always", "nocorrect"],
]);

class Doubt extends Error {}

/**
 * Reads a line of bash, or of zsh where both agree, into its simple commands. It knows a part of the language well and nothing
 * of the rest: what it does not know, and what shells read differently, becomes a doubt, never a guess.
 */
export function readShellLine(source: string, inside?: string, depth = 0): ShellLine {
  const commands: ShellCommand[] = [];
  try {
    if (source.length > MAX_LENGTH) throw new Doubt("it is longer than anybody would read");
    if (STRANGE.test(source)) throw new Doubt("it has characters that cannot be seen");
    new Reader(source, commands, inside, depth).readAll();
    return { commands, doubt: undefined };
  } catch (error) {
    if (!(error instanceof Doubt)) throw error;
    return { commands, doubt: error.message };
  }
}

class Reader {
  readonly #source: string;
  readonly #commands: ShellCommand[];
  readonly #inside: string | undefined;
  readonly #depth: number;
  #at: number;
  /** Here-documents whose text begins after the next newline. */
  readonly #pending: { redirect: Redirect; end: string; quoted: boolean; stripTabs: boolean }[] = [];

  constructor(source: string, commands: ShellCommand[], inside: string | undefined, depth: number, at = 0) {
    if (depth > MAX_DEPTH) throw new Doubt("commands are nested too deep");
    this.#source = source;
    this.#commands = commands;
    this.#inside = inside;
    this.#depth = depth;
    this.#at = at;
  }

  readAll(): void {
    this.#list(false);
    if (this.#at < this.#source.length) throw new Doubt("a parenthesis is closed that was not opened");
  }

  /** Commands up to the end, or to the parenthesis that closes them. Returns where that is. */
  readUntilClosed(): number {
    this.#list(true);
    if (this.#source[this.#at] !== ")") throw new Doubt("a parenthesis is not closed");
    return this.#at + 1;
  }

  #list(closes: boolean): void {
    for (;;) {
      this.#blanks();
      const char = this.#source[this.#at];
      if (char === undefined || char === ")") {
        if (this.#pending.length > 0) throw new Doubt("a here-document has no text");
        if (char === ")" && !closes) throw new Doubt("a parenthesis is closed that was not opened");
        return;
      }
      if (char === "\n") this.#newline();
      else if (char === ";" || char === "&" || char === "|") this.#separator();
      else if (char === "(") this.#subshell();
      else this.#command();
    }
  }

  #separator(): void {
    const found = /^(?:&&|\|\||\|&|;;?&?|[&|])/.exec(this.#source.slice(this.#at, this.#at + 3))![0];
    if (found.startsWith(";;") || found === ";&") throw new Doubt("it has a `case`");
    this.#at += found.length;
  }

  #subshell(): void {
    if (this.#source[this.#at + 1] === "(") throw new Doubt("it computes with `((`");
    this.#at = this.#nested(this.#at + 1, this.#inside);
    this.#redirectsOnly();
  }

  /** After what closes, only redirections may come before the next separator. */
  #redirectsOnly(): void {
    const command = this.#empty();
    for (;;) {
      this.#blanks();
      const rest = this.#source.slice(this.#at, this.#at + 1);
      if (rest === "" || ";&|\n)".includes(rest)) {
        // `&>` redirects; a plain `&` ends.
        if (!(rest === "&" && this.#source[this.#at + 1] === ">")) break;
      }
      if (!this.#redirect(command)) throw new Doubt("something follows a closing parenthesis");
    }
    if (command.redirects.length > 0) this.#commands.push(command);
  }

  #command(): void {
    const command = this.#empty();
    const begin = this.#at;
    for (;;) {
      this.#blanks();
      const char = this.#source[this.#at];
      if (char === undefined || ";|\n)".includes(char)) break;
      if (char === "&" && this.#source[this.#at + 1] !== ">") break;
      if (char === "(") throw new Doubt("it has a parenthesis where none is expected");
      if (this.#redirect(command)) continue;
      const start = this.#at;
      const first = command.words.length === 0 && command.assigns.length === 0;
      if (command.words.length === 0 && this.#assignment(command)) continue;
      const word = this.#word(first);
      if (first && word.bare && word.text !== undefined && this.#shellWord(word.text, command, start)) return;
      command.words.push(word);
    }
    command.source = this.#source.slice(begin, this.#at).trim();
    this.#commands.push(command);
  }

  /** Whether it was a word of the shell's own; then the command, if there is one, begins after it. */
  #shellWord(text: string, command: ShellCommand, start: number): boolean {
    if (command.redirects.length > 0) return false;
    if (COMPOUND.has(text)) throw new Doubt(`it has a \`${text}\``);
    if (ORDERING.has(text)) return true;
    if (text === "time") {
      this.#blanks();
      if (/^-p[\s;]/.test(this.#source.slice(this.#at, this.#at + 3))) this.#at += 2;
      return true;
    }
    if (text !== "for") return false;
    this.#blanks();
    const name = this.#word();
    if (name.text === undefined || !/^[A-Za-z_]\w*$/.test(name.text)) throw new Doubt("it has a `for` of another kind");
    this.#blanks();
    if (this.#source[this.#at] !== ";" && this.#source[this.#at] !== "\n") {
      if (this.#word().text !== "in") throw new Doubt("it has a `for` of another kind");
    }
    // The words are read for the commands in them; where they are used, they are a variable.
    for (this.#blanks(); !";\n".includes(this.#source[this.#at] ?? ";"); this.#blanks()) {
      if ("&|<>()".includes(this.#source[this.#at]!)) throw new Doubt("it has a `for` of another kind");
      this.#word();
    }
    this.#commands.push({
      ...command,
      assigns: [{ name: name.text, value: unknownWord("") }],
      source: this.#source.slice(start, this.#at).trim(),
    });
    return true;
  }

  #assignment(command: ShellCommand): boolean {
    const rest = this.#source.slice(this.#at);
    const name = /^([A-Za-z_]\w*)\+?=/.exec(rest);
    if (!name) {
      if (/^[A-Za-z_]\w*\[/.test(rest)) throw new Doubt("it sets an element of an array");
      return false;
    }
    this.#at += name[0].length;
    if (this.#source[this.#at] === "(") throw new Doubt("it sets an array");
    const ends = /^[\s;&|<>)]/.test(this.#source[this.#at] ?? ";");
    command.assigns.push({ name: name[1]!, value: ends ? literalWord("") : this.#word() });
    return true;
  }

  #redirect(command: ShellCommand): boolean {
    const found = /^(\d*)(<<<|<<-|<<|<>|<&|>>|>\||>&|<|>)|^()(&>>|&>)/.exec(this.#source.slice(this.#at, this.#at + 8));
    if (!found) return false;
    const operator = found[2] ?? found[4]!;
    // `<(` and `>(` begin a word.
    if (found[1] === "" && (operator === "<" || operator === ">") && this.#source[this.#at + 1] === "(") return false;
    this.#at += found[0].length;
    this.#blanks();
    const next = this.#source[this.#at];
    if (next === undefined || "\n;&|()".includes(next)) throw new Doubt("a redirection has no target");
    // In zsh, `>!` and `>>!` are operators, `<1-5>` is a pattern, and descriptors have one digit.
    if (
      next === "!" ||
      (found[1]?.length ?? 0) > 1 ||
      (operator.startsWith("<") && /^\d*-\d*>/.test(this.#source.slice(this.#at)))
    ) {
      throw new Doubt("shells read its redirection differently");
    }
    const target = this.#word();
    if (operator === "<<" || operator === "<<-") {
      if (target.text === undefined || target.glob) throw new Doubt("the end of a here-document is not plain");
      const redirect = { operator: "<<", target: literalWord("") };
      const quoted = !target.bare;
      this.#pending.push({ redirect, end: target.text, quoted, stripTabs: operator === "<<-" });
      command.redirects.push(redirect);
    } else {
      command.redirects.push({ operator, target });
    }
    return true;
  }

  #newline(): void {
    this.#at += 1;
    for (const { redirect, end, quoted, stripTabs } of this.#pending.splice(0)) {
      const lines: string[] = [];
      for (;;) {
        if (this.#at >= this.#source.length) throw new Doubt("a here-document does not end");
        const stop = this.#source.indexOf("\n", this.#at);
        const raw = this.#source.slice(this.#at, stop === -1 ? undefined : stop);
        this.#at = stop === -1 ? this.#source.length : stop + 1;
        const line = stripTabs ? raw.replace(/^\t+/, "") : raw;
        if (line === end) break;
        lines.push(line);
      }
      const body = lines.map((line) => `${line}\n`).join("");
      redirect.target = quoted ? literalWord(body) : this.#hereText(body);
    }
  }

  /** The text of a here-document whose end is not quoted: as between double quotes, but that those are nothing special. */
  #hereText(body: string): ShellWord {
    const reader = new Reader(body, this.#commands, "here-document", this.#depth + 1);
    const text = reader.#doubleQuoted(undefined);
    return { source: body, text, glob: false, home: false, bare: false };
  }

  #blanks(): void {
    for (;;) {
      const char = this.#source[this.#at];
      if (char === " " || char === "\t") this.#at += 1;
      else if (char === "\\" && this.#source[this.#at + 1] === "\n") this.#at += 2;
      else if (char === "#") {
        const end = this.#source.indexOf("\n", this.#at);
        this.#at = end === -1 ? this.#source.length : end;
      } else return;
    }
  }

  #word(atCommand = false): ShellWord {
    const start = this.#at;
    let text: string | undefined = "";
    let glob = false;
    let bare = true;
    let braces = "";
    const add = (more: string | undefined): void => {
      text = text === undefined || more === undefined ? undefined : text + more;
    };
    for (;;) {
      const char = this.#source[this.#at];
      const next = this.#source[this.#at + 1];
      if (char === undefined || " \t\n;&|".includes(char)) break;
      if ((char === "<" || char === ">") && next === "(") {
        this.#at = this.#nested(this.#at + 2, `${char}(…)`);
        add(undefined);
        bare = false;
      } else if ("<>)".includes(char)) {
        break;
      } else if (char === "(") {
        throw new Doubt("it has a parenthesis where none is expected");
      } else if (char === "\\") {
        if (next === undefined) throw new Doubt("it ends with a backslash");
        this.#at += 2;
        bare = false;
        if (next !== "\n") add(next);
      } else if (char === "'") {
        const end = this.#source.indexOf("'", this.#at + 1);
        if (end === -1) throw new Doubt("a quote is not closed");
        add(this.#source.slice(this.#at + 1, end));
        this.#at = end + 1;
        bare = false;
      } else if (char === '"') {
        this.#at += 1;
        add(this.#doubleQuoted('"'));
        bare = false;
      } else if (char === "$" || char === "`") {
        add(this.#expansion(true));
        bare = false;
      } else {
        if ("*?[".includes(char)) glob = true;
        if ("{},".includes(char)) braces += char;
        if (char === "." && next === ".") braces += "..";
        add(char);
        this.#at += 1;
      }
    }
    if (this.#at === start) throw new Doubt("a word is missing");
    const source = this.#source.slice(start, this.#at);
    if (this.#pending.length > 0 && source.includes("\n")) throw new Doubt("a here-document begins inside of a word");
    // In zsh, braces group commands where bash takes them for text.
    if (bare && /^(?:\}|\{(?!\}).*)$/s.test(source) && !(atCommand && (source === "{" || source === "}"))) {
      throw new Doubt("shells read its braces differently");
    }
    // `{a,b}` and `{1..3}` become several words.
    if (/\{.*(?:,|\.\.).*\}/.test(braces)) text = undefined;
    const home = source.startsWith("~");
    // `~name` is another's home; `=name` is, in zsh, where a program is.
    if ((home && !/^~(?:\/|$)/.test(source)) || source.startsWith("=")) text = undefined;
    if (/^\{\w+\}$/.test(source) && "<>".includes(this.#source[this.#at] ?? " ")) {
      throw new Doubt("a redirection names its descriptor");
    }
    return { source, text, glob, home: home && text !== undefined, bare };
  }

  /** What stands between double quotes, after the first; without a closing one, all of the text. */
  #doubleQuoted(close: '"' | undefined): string | undefined {
    let text: string | undefined = "";
    const add = (more: string | undefined): void => {
      text = text === undefined || more === undefined ? undefined : text + more;
    };
    for (;;) {
      const char = this.#source[this.#at];
      if (char === undefined) {
        if (close) throw new Doubt("a quote is not closed");
        return text;
      }
      if (char === close) {
        this.#at += 1;
        return text;
      }
      if (char === "\\") {
        const next = this.#source[this.#at + 1] ?? "";
        this.#at += 1 + next.length;
        if (next === "\n") continue;
        add(next !== "" && (`$\`\\`.includes(next) || next === close) ? next : `\\${next}`);
      } else if (char === "$" || char === "`") {
        add(this.#expansion(false));
      } else {
        add(char);
        this.#at += 1;
      }
    }
  }

  /** At a `$` or a backtick. Returns its text where that is known, and reads the commands in it. */
  #expansion(outside: boolean): string | undefined {
    const rest = this.#source.slice(this.#at);
    if (rest.startsWith("`")) return this.#backticks(outside);
    if (rest.startsWith("$'") && outside) return this.#ansi();
    if (rest.startsWith('$"') && outside) throw new Doubt("it has a translated string");
    if (rest.startsWith("$((")) {
      // Names in a sum may stand for commands to run, so only figures are taken.
      const sum = /^\$\(\([\d\s+\-*/%]*\)\)/.exec(rest);
      if (!sum) throw new Doubt("it computes with `$((`");
      this.#at += sum[0].length;
      return undefined;
    }
    if (rest.startsWith("$(")) {
      this.#at = this.#nested(this.#at + 2, "$(…)");
      return undefined;
    }
    const variable = /^\$(?:[A-Za-z_]\w*|[\d?$#!@*-]|\{#?(?:[A-Za-z_]\w*|[\d?$#!@*-])\})/.exec(rest);
    if (variable) {
      this.#at += variable[0].length;
      return undefined;
    }
    if (/^\$[[{]/.test(rest)) throw new Doubt("it changes a variable where it uses it");
    if (/^\$[=~^+]/.test(rest)) throw new Doubt("shells read a `$` in it differently");
    this.#at += 1;
    return "$";
  }

  #nested(at: number, inside: string | undefined): number {
    if (this.#pending.length > 0) throw new Doubt("a command stands between a here-document and its text");
    return new Reader(this.#source, this.#commands, inside, this.#depth + 1, at).readUntilClosed();
  }

  #backticks(outside: boolean): undefined {
    let inner = "";
    for (let at = this.#at + 1; ; at += 1) {
      const char = this.#source[at];
      if (char === undefined) throw new Doubt("a backtick is not closed");
      if (char === "`") {
        this.#at = at + 1;
        break;
      }
      const next = this.#source[at + 1] ?? "";
      if (char === "\\" && next !== "" && ("$`\\".includes(next) || (!outside && next === '"'))) at += 1;
      inner += this.#source[at];
    }
    new Reader(inner, this.#commands, "`…`", this.#depth + 1).readAll();
    return undefined;
  }

  /** `$'…'`, with the escapes that mean the same everywhere. */
  #ansi(): string {
    const found = /^\$'((?:[^'\\]|\\[^])*)'/.exec(this.#source.slice(this.#at));
    if (!found) throw new Doubt("a quote is not closed");
    this.#at += found[0].length;
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

  #empty(): ShellCommand {
    return { words: [], redirects: [], assigns: [], source: "", inside: this.#inside };
  }
}

const literalWord = (text: string): ShellWord => ({ source: text, text, glob: false, home: false, bare: false });
const unknownWord = (source: string): ShellWord => ({ ...literalWord(source), text: undefined });
