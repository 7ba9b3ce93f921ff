import { spawn, type ChildProcess } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { runCommand } from "../run-command.ts";
import { scratchFolder } from "./scratch-folder.ts";

/** `npm test` builds the package once and tests that: it starts in half the time, and it is what users run. */
export const TANDEM =
  process.env["TANDEM_TEST_COMMAND"] ?? fileURLToPath(new URL("../../bin/tandem.mjs", import.meta.url));

export interface Outcome {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface CommandOptions {
  /** Empty by default. */
  stdin?: string;
  /** Added to the scratch machine's variables. Nothing is inherited. */
  env?: Record<string, string>;
  /** Relative to the project. */
  cwd?: string;
}

export interface RunOptions extends CommandOptions {
  /** A command with arguments that starts `tandem`. */
  wrapper?: readonly string[];
  /** Another build of `tandem`. */
  tandem?: string;
}

/** A machine for one test: scratch folders for home and project, and variables that point only there. */
export async function scratchMachine(config?: string) {
  const folder = await scratchFolder();
  const project = folder.join("project");
  const variables = {
    PATH: [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter),
    HOME: folder.join("home"),
    TANDEM_HOME: folder.join("home", ".tandem"),
    CLAUDE_CONFIG_DIR: folder.join("home", ".claude"),
    TMPDIR: folder.join("tmp"),
    LANG: "C.UTF-8",
    // A test without an explicit endpoint must not reach the network.
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1",
    // The compile cache is shared between tests, the home is not.
    NODE_COMPILE_CACHE: join(tmpdir(), `tandem-test-cache-${process.getuid?.() ?? 0}`),
  };
  await Promise.all([project, variables.HOME, variables.TMPDIR].map((path) => mkdir(path, { recursive: true })));
  const configure = (text: string) => writeFile(folder.join("project", "tandem.yaml"), text);
  if (config !== undefined) await configure(config);

  const start = (args: readonly string[], options: RunOptions = {}): ChildProcess => {
    const { env = {}, cwd = ".", wrapper = [], tandem = TANDEM } = options;
    const [program, ...rest] = [...wrapper, process.execPath, tandem, ...args];
    return spawn(program!, rest, {
      cwd: folder.join("project", cwd),
      env: { ...variables, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
  };

  return {
    folder,
    project,
    variables,
    configure,
    /** Starts `tandem`. The test ends it. */
    start,
    /** Runs a command in this process, which costs a tenth of starting another one. */
    async run(args: readonly string[], { stdin = "", env, cwd = "." }: CommandOptions = {}): Promise<Outcome> {
      const output = { stdout: outputStream(), stderr: outputStream() };
      const code = await runCommand(args, {
        cwd: folder.join("project", cwd),
        env: { ...variables, ...env },
        stdin: Readable.from(stdin === "" ? [] : [Buffer.from(stdin)], { objectMode: false }) as NodeJS.ReadStream,
        ...output,
        interrupt: { signal: new AbortController().signal, exitCode: () => undefined, allow: () => {} },
      });
      return { code, signal: null, stdout: output.stdout.text, stderr: output.stderr.text };
    },
    /** Starts `tandem` in its own process and waits until it exits. */
    runProcess(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
      const child = start(args, options);
      child.stdin?.on("error", () => {});
      child.stdin?.end(options.stdin ?? "");
      return outcomeOf(child);
    },
    /** Trusts the current config. */
    async trust(): Promise<void> {
      const { code, stderr } = await this.run(["trust"]);
      if (code !== 0) throw new Error(stderr);
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** A stream that is no terminal and collects its text. */
function outputStream(): NodeJS.WriteStream & { text: string } {
  const chunks: Buffer[] = [];
  const write = (chunk: Buffer, _: string, done: () => void): void => {
    chunks.push(chunk);
    done();
  };
  const stream = new Writable({ write });
  Object.defineProperty(stream, "text", { get: () => Buffer.concat(chunks).toString() });
  return stream as NodeJS.WriteStream & { text: string };
}

/** Waits for exit and returns the output. */
export function outcomeOf(child: ChildProcess): Promise<Outcome> {
  let [stdout, stderr] = ["", ""];
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}
