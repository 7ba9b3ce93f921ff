import { Doubt, literalWord, unknownWord, WordReader, type ShellWord } from "./shell-word.ts";

export interface Redirect {
  /**
   * One of `<`, `>`, `>>`, `>|`, `<>`, `&>`, `&>>`, `>&`, `<&`, `<<<` or `<<`; the target of `<<` is the here-document's text.
   */
  operator: string;
  target: ShellWord;
}

/** One program with its words, or only assignments or redirections. */
export interface ShellCommand {
  words: ShellWord[];
  redirects: Redirect[];
  /** Assignments before the command; without words, they apply to the rest of the line. */
  assigns: { name: string; value: ShellWord }[];
  /** The approximate source text, shown to people. */
  source: string;
  /** The construct that contains the command: `$(…)`, `bash -c`. */
  inside: string | undefined;
}

export interface ShellLine {
  /** All commands in source order, including those inside substitutions. */
  commands: ShellCommand[];
  /** The reason why the line may do more than these commands; undefined if it was parsed completely. */
  doubt: string | undefined;
}

/** Longer lines are programs; people do not read them before approving. */
const MAX_LENGTH = 20_000;
const MAX_DEPTH = 12;

/** Control and formatting characters that shells, terminals and people read differently. Space, tab and newline are fine. */
const STRANGE = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\u180e]/u;

/** Keywords after which a command may start. */
const ORDERING = new Set(["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{", "}"]);
/** Syntax that this parser does not follow, in bash or zsh. */
const COMPOUND = new Set("case esac select function coproc [[ ]] repeat foreach end always nocorrect".split(" "));

/**
 * Parses a line of bash, or of zsh where both agree, into simple commands. It supports a subset of the language. Unsupported
 * syntax, and syntax that shells parse differently, becomes a doubt, never a guess.
 */
export function readShellLine(source: string, inside?: string, depth = 0): ShellLine {
  const commands: ShellCommand[] = [];
  try {
    if (source.length > MAX_LENGTH) throw new Doubt("it is too long to review");
    if (STRANGE.test(source)) throw new Doubt("it has characters that cannot be seen");
    new CommandReader(source, commands, inside, depth).readAll();
    return { commands, doubt: undefined };
  } catch (error) {
    if (!(error instanceof Doubt)) throw error;
    return { commands, doubt: error.message };
  }
}

class CommandReader extends WordReader {
  readonly #commands: ShellCommand[];
  readonly #inside: string | undefined;
  readonly #depth: number;
  /** Here-documents whose text starts after the next newline. */
  readonly #pending: { redirect: Redirect; end: string; quoted: boolean; stripTabs: boolean }[] = [];

  constructor(source: string, commands: ShellCommand[], inside: string | undefined, depth: number, at = 0) {
    super(source, at);
    if (depth > MAX_DEPTH) throw new Doubt("commands are nested too deep");
    this.#commands = commands;
    this.#inside = inside;
    this.#depth = depth;
  }

  readAll(): void {
    this.#list(false);
    if (this.at < this.source.length) throw new Doubt("a parenthesis is closed that was not opened");
  }

  /** Parses commands up to the end or the closing parenthesis. Returns its position. */
  readUntilClosed(): number {
    this.#list(true);
    if (this.source[this.at] !== ")") throw new Doubt("a parenthesis is not closed");
    return this.at + 1;
  }

  #list(closes: boolean): void {
    for (;;) {
      this.blanks();
      const char = this.source[this.at];
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
    const found = /^(?:&&|\|\||\|&|;;?&?|[&|])/.exec(this.source.slice(this.at, this.at + 3))![0];
    if (found.startsWith(";;") || found === ";&") throw new Doubt("it has a `case`");
    this.at += found.length;
  }

  #subshell(): void {
    if (this.source[this.at + 1] === "(") throw new Doubt("it computes with `((`");
    this.at = this.nested(this.at + 1, this.#inside);
    this.#redirectsOnly();
  }

  /** After a closing token, only redirections may precede the next separator. */
  #redirectsOnly(): void {
    const command = this.#empty();
    for (;;) {
      this.blanks();
      const rest = this.source.slice(this.at, this.at + 1);
      if (rest === "" || ";&|\n)".includes(rest)) {
        // `&>` redirects; a plain `&` ends the command.
        if (!(rest === "&" && this.source[this.at + 1] === ">")) break;
      }
      if (!this.#redirect(command)) throw new Doubt("something follows a closing parenthesis");
    }
    if (command.redirects.length > 0) this.#commands.push(command);
  }

  #command(): void {
    const command = this.#empty();
    const begin = this.at;
    for (;;) {
      this.blanks();
      const char = this.source[this.at];
      if (char === undefined || ";|\n)".includes(char)) break;
      if (char === "&" && this.source[this.at + 1] !== ">") break;
      if (char === "(") throw new Doubt("it has a parenthesis where none is expected");
      if (this.#redirect(command)) continue;
      const start = this.at;
      const first = command.words.length === 0 && command.assigns.length === 0;
      if (command.words.length === 0 && this.#assignment(command)) continue;
      const word = this.word(first);
      if (first && word.bare && word.text !== undefined && this.#shellWord(word.text, command, start)) return;
      command.words.push(word);
    }
    command.source = this.source.slice(begin, this.at).trim();
    this.#commands.push(command);
  }

  /** Returns true for a keyword; a command may then follow it. */
  #shellWord(text: string, command: ShellCommand, start: number): boolean {
    if (command.redirects.length > 0) return false;
    if (COMPOUND.has(text)) throw new Doubt(`it has a \`${text}\``);
    if (ORDERING.has(text)) return true;
    if (text === "time") {
      this.blanks();
      if (/^-p[\s;]/.test(this.source.slice(this.at, this.at + 3))) this.at += 2;
      return true;
    }
    if (text !== "for") return false;
    this.blanks();
    const name = this.word();
    if (name.text === undefined || !/^[A-Za-z_]\w*$/.test(name.text)) throw new Doubt("it has a `for` of another kind");
    this.blanks();
    if (this.source[this.at] !== ";" && this.source[this.at] !== "\n") {
      if (this.word().text !== "in") throw new Doubt("it has a `for` of another kind");
    }
    // Parse the loop's words for commands in them; their values are unknown where the variable is used.
    for (this.blanks(); !";\n".includes(this.source[this.at] ?? ";"); this.blanks()) {
      if ("&|<>()".includes(this.source[this.at]!)) throw new Doubt("it has a `for` of another kind");
      this.word();
    }
    this.#commands.push({
      ...command,
      assigns: [{ name: name.text, value: unknownWord("") }],
      source: this.source.slice(start, this.at).trim(),
    });
    return true;
  }

  #assignment(command: ShellCommand): boolean {
    const rest = this.source.slice(this.at);
    const name = /^([A-Za-z_]\w*)\+?=/.exec(rest);
    if (!name) {
      if (/^[A-Za-z_]\w*\[/.test(rest)) throw new Doubt("it sets an element of an array");
      return false;
    }
    this.at += name[0].length;
    if (this.source[this.at] === "(") throw new Doubt("it sets an array");
    const ends = /^[\s;&|<>)]/.test(this.source[this.at] ?? ";");
    command.assigns.push({ name: name[1]!, value: ends ? literalWord("") : this.word() });
    return true;
  }

  #redirect(command: ShellCommand): boolean {
    const found = /^(\d*)(<<<|<<-|<<|<>|<&|>>|>\||>&|<|>)|^()(&>>|&>)/.exec(this.source.slice(this.at, this.at + 8));
    if (!found) return false;
    const operator = found[2] ?? found[4]!;
    // `<(` and `>(` begin a word.
    if (found[1] === "" && (operator === "<" || operator === ">") && this.source[this.at + 1] === "(") return false;
    this.at += found[0].length;
    this.blanks();
    const next = this.source[this.at];
    if (next === undefined || "\n;&|()".includes(next)) throw new Doubt("a redirection has no target");
    // In zsh, `>!` and `>>!` are operators, `<1-5>` is a pattern, and descriptors have one digit.
    if (
      next === "!" ||
      (found[1]?.length ?? 0) > 1 ||
      (operator.startsWith("<") && /^\d*-\d*>/.test(this.source.slice(this.at)))
    ) {
      throw new Doubt("shells read its redirection differently");
    }
    const target = this.word();
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
    this.at += 1;
    for (const { redirect, end, quoted, stripTabs } of this.#pending.splice(0)) {
      const lines: string[] = [];
      for (;;) {
        if (this.at >= this.source.length) throw new Doubt("a here-document does not end");
        const stop = this.source.indexOf("\n", this.at);
        const raw = this.source.slice(this.at, stop === -1 ? undefined : stop);
        this.at = stop === -1 ? this.source.length : stop + 1;
        const line = stripTabs ? raw.replace(/^\t+/, "") : raw;
        if (line === end) break;
        lines.push(line);
      }
      const body = lines.map((line) => `${line}\n`).join("");
      redirect.target = quoted ? literalWord(body) : this.#hereText(body);
    }
  }

  /** The text of an unquoted here-document: like double-quoted text, except that quotes are literal. */
  #hereText(body: string): ShellWord {
    const reader = new CommandReader(body, this.#commands, "here-document", this.#depth + 1);
    const text = reader.doubleQuoted(undefined);
    return { source: body, text, glob: false, home: false, bare: false };
  }

  protected get isBeforeHereText(): boolean {
    return this.#pending.length > 0;
  }

  protected nested(at: number, inside: string | undefined): number {
    if (this.isBeforeHereText) throw new Doubt("a command stands between a here-document and its text");
    return new CommandReader(this.source, this.#commands, inside, this.#depth + 1, at).readUntilClosed();
  }

  protected nestedIn(source: string, inside: string): void {
    new CommandReader(source, this.#commands, inside, this.#depth + 1).readAll();
  }

  #empty(): ShellCommand {
    return { words: [], redirects: [], assigns: [], source: "", inside: this.#inside };
  }
}
