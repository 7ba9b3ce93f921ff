import { type Command, CommanderError } from "commander";
import manifest from "../package.json" with { type: "json" };
import { resolveAliases, wordPositions } from "./aliases.ts";
import { COMMANDS } from "./command-tree.ts";
import { EXIT_CODES } from "./exit-code.ts";
import type { Interrupt } from "./interrupt.ts";
import type { Invocation } from "./invocation.ts";
import { addDefaultSubcommand, createProgram } from "./program.ts";

const { version } = manifest;

/** The process that a command runs in: its folder, variables, streams and signals. */
export interface CommandProcess extends Pick<Invocation, "cwd" | "env" | "stdin" | "stdout" | "stderr"> {
  interrupt: Interrupt;
}

/** Runs one `tandem` command and resolves with its exit code. */
export async function runCommand(given: readonly string[], process: CommandProcess): Promise<number> {
  const { stdout, stderr, interrupt } = process;
  const { args: named, notices } = resolveAliases(given);
  // With --json, stderr has JSON only.
  const json = given.includes("--json") || /--output-format[ =](stream-)?json/.test(given.join(" "));
  if (!json) for (const notice of notices) stderr.write(`${notice}\n`);
  const isHelp = named[wordPositions(named)[0] ?? -1] === "help";
  let exitCode: number | undefined;
  const program = await createProgram(
    version,
    async (command, action) => {
      exitCode = (await action(await inDemoHome(command, invocationOf(command, process)))) ?? undefined;
    },
    isHelp ? "all" : named,
  );
  const args = addDefaultSubcommand(program, named);
  let failed = program;
  for (const command of withSubcommands(program)) {
    const write = (text: string): void => void stdout.write(text);
    command.exitOverride().configureOutput({ writeOut: write, writeErr: write, outputError: () => (failed = command) });
  }
  try {
    if (args.length === 0 || isHelp) program.outputHelp();
    else await program.parseAsync(args, { from: "user" });
    // A command's own exit code takes precedence over the signal: a server that was told to stop succeeded.
    return exitCode ?? interrupt.exitCode() ?? EXIT_CODES.ok.code;
  } catch (error) {
    // A group without a subcommand has printed its help.
    if (error instanceof CommanderError && (error.exitCode === 0 || error.code === "commander.help")) {
      return EXIT_CODES.ok.code;
    }
    const { reportError } = await import("./report-error.ts");
    const code = await reportError(error, { json, debug: args.includes("--debug"), stderr, command: failed });
    return interrupt.exitCode() ?? code;
  }
}

function invocationOf(command: Command, { interrupt, ...process }: CommandProcess): Invocation {
  const options = command.optsWithGlobals<{ project?: string; claudePath?: string; json?: boolean; debug?: boolean }>();
  const { env, stderr } = process;
  return {
    ...process,
    version,
    signal: interrupt.signal,
    allowToStop: (graceMs) => interrupt.allow(graceMs),
    project: options.project ?? (env["TANDEM_PROJECT"] || undefined),
    claudePath: options.claudePath,
    // `status` and `doctor` report the same warnings to programs.
    warn: stderr.isTTY && !options.json ? (message) => stderr.write(`${message}\n`) : undefined,
    json: options.json ?? false,
    debug: options.debug ?? false,
  };
}

/**
 * Commands on the context use the demo's store in the demo's folder: the user's home neither knows that context nor trusts the
 * folder.
 */
async function inDemoHome(command: Command, invocation: Invocation): Promise<Invocation> {
  if (!invocation.cwd.includes("-demo") || !usesContext(command)) return invocation;
  const { demoVariables } = await import("./demo/seed/demo-home.ts");
  return { ...invocation, env: await demoVariables(invocation) };
}

/** `tandem mcp` serves the context; its subcommands are about servers that sessions have used. */
const usesContext = (command: Command): boolean =>
  groupOf(command) in COMMANDS["Your data:"]! || (command.name() === "mcp" && groupOf(command) === "mcp");

/** The first word of the command. */
function groupOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? groupOf(parent) : command.name();
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}
