import { spawn, type ChildProcess } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openCommand, outcomeOf, type OpenCommand, type Outcome } from "./open-command.ts";
import { testFolder } from "./test-folder.ts";

/** `npm test` builds the package once and tests that: it starts in half the time, and it is what users run. */
export const TANDEM =
  process.env["TANDEM_TEST_COMMAND"] ?? fileURLToPath(new URL("../../bin/tandem.mjs", import.meta.url));

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
  const folder = await testFolder();
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

  const open = (args: readonly string[], { env, cwd = "." }: CommandOptions = {}): OpenCommand =>
    openCommand(args, { cwd: folder.join("project", cwd), env: { ...variables, ...env } });

  return {
    folder,
    project,
    variables,
    configure,
    /** Starts `tandem`. The test ends it. */
    start,
    /** Starts a command in this process. The test ends its input or stops it. */
    open,
    /** Runs a command in this process, which costs a tenth of starting another one. */
    run(args: readonly string[], { stdin = "", ...options }: CommandOptions = {}): Promise<Outcome> {
      const command = open(args, options);
      command.stdin.end(stdin);
      return command.outcome;
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
