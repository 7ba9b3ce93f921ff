import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { runCommand } from "../../apps/cli/src/run-command.ts";
import { openCommand, outcomeOf, type OpenCommand } from "../../apps/cli/src/testing/open-command.ts";

const COLUMNS = 100;
/** Questions that the reader answers with yes. */
const PROMPT = /^ {2}y .*:$|\(y\/n\)$/;

/** Types the commands of a page into terminals of a scratch machine: servers keep running, other commands are awaited. */
export class DocsReader implements AsyncDisposable {
  readonly #clone: string;
  readonly #home: string;
  /** Added to the variables of every later command. */
  readonly variables: Record<string, string>;
  #folder: string;
  #server: OpenCommand | undefined;

  constructor(clone: string, variables: Record<string, string> & { HOME: string }) {
    this.#clone = clone;
    this.#home = variables.HOME;
    this.variables = variables;
    this.#folder = clone;
  }

  /** Runs a line of the page and returns what the terminal shows. */
  async type(line: string): Promise<string[]> {
    const shown = await this.#run(line);
    const text = shown.map((row) => this.#asDocumented(row));
    while (text.at(-1) === "") text.pop();
    return text;
  }

  #asDocumented(row: string): string {
    return row
      .replaceAll(this.#home, "/home/ada")
      .replaceAll(this.#clone, "/home/ada/tandem")
      .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:4760")
      .replaceAll(/#code=\S+/g, "#code=…");
  }

  async #run(line: string): Promise<string[]> {
    const folder = /^(?:mkdir (?:-p )?(\S+) && )?cd (\S+)$/.exec(line);
    if (folder) {
      this.#folder = join(this.#home, folder[2]!.replace(/^~\//, ""));
      if (folder[1] !== undefined) await mkdir(this.#folder);
      return [];
    }
    if (line.startsWith("alias tandem=")) return [];
    // The command of `npm start` once everything is installed and built.
    const command = line.replace(/^npm start$/, "tandem up --demo if-needed");
    const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!);
    const [program, ...args] = words;
    if (program !== "tandem") return this.#shell(command);
    return args[0] === "up" ? this.#serve(args) : this.#ask(args);
  }

  /** A server in this process, until the next one starts. It takes a free port, because 4760 may be in use. */
  async #serve(args: readonly string[]): Promise<string[]> {
    await this.#server?.stop();
    const { variables: env } = this;
    this.#server = openCommand([...args, "--port", "0"], { cwd: this.#folder, env });
    const { stdout, outcome } = this.#server;
    const text = await new Promise<string>((resolve) => {
      let text = "";
      stdout.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes("Ctrl-C stops")) resolve(text);
      });
      void outcome.then(({ stderr }) => resolve(text + stderr));
    });
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [""];
    this.variables["TANDEM_URL"] = url;
    return terminalText(text);
  }

  /** A command on a terminal, in this process. */
  async #ask(args: readonly string[]): Promise<string[]> {
    const keyboard = Object.assign(new PassThrough(), { isTTY: true });
    const screen = Object.assign(new PassThrough(), { isTTY: true, columns: COLUMNS });
    let raw = "";
    screen.on("data", (chunk: Buffer) => {
      raw += chunk.toString();
      if (PROMPT.test(terminalText(raw).at(-1)!)) keyboard.write("y\r");
    });
    await runCommand(args, {
      cwd: this.#folder,
      env: { ...this.variables, NO_COLOR: "1" },
      stdin: keyboard as Readable as NodeJS.ReadStream,
      stdout: screen as Writable as NodeJS.WriteStream,
      stderr: screen as Writable as NodeJS.WriteStream,
      interrupt: { signal: new AbortController().signal, exitCode: () => undefined, allow: () => {} },
    });
    return terminalText(raw);
  }

  /** Another program, in the clone. */
  async #shell(command: string): Promise<string[]> {
    const child = spawn("sh", ["-c", command.replace(/^npx node /, `${process.execPath} `)], {
      cwd: this.#clone,
      env: this.variables,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { stdout, stderr } = await outcomeOf(child);
    return terminalText(stdout + stderr);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.stop();
  }
}

/** The lines that a terminal shows after a program has written `raw`: without colours and overwritten status lines. */
function terminalText(raw: string): string[] {
  const lines = [""];
  let [row, column] = [0, 0];
  // oxlint-disable-next-line no-control-regex
  const control = /\u001b\[([\d;?]*)([A-Za-z])|\r|\n|[^\u001b\r\n]+/g;
  for (const [part, argument = "", code] of raw.matchAll(control)) {
    const count = Number.parseInt(argument, 10) || 0;
    const line = lines[row] ?? "";
    if (part === "\r") column = 0;
    else if (part === "\n") {
      row += 1;
      column = 0;
      lines[row] ??= "";
    } else if (code === "K") lines[row] = count === 2 ? "" : line.slice(0, column);
    else if (code === "J") lines.splice(row, lines.length, line.slice(0, column));
    else if (code === "G") column = Math.max(0, count - 1);
    else if (code === "A") row = Math.max(0, row - (count || 1));
    else if (code === "C") column += count || 1;
    else if (code === undefined) {
      lines[row] = line.padEnd(column).slice(0, column) + part + line.slice(column + part.length);
      column += part.length;
    }
  }
  return lines.map((line) => line.trimEnd());
}
