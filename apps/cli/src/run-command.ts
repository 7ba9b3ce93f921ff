import { type Command, CommanderError } from "commander";
import manifest from "../package.json" with { type: "json" };
import { EXIT_CODES } from "./exit-code.ts";
import type { Interrupt } from "./interrupt.ts";
import type { Invocation } from "./invocation.ts";
import { createProgram } from "./program.ts";

const { version } = manifest;

/** The process that a command runs in: its folder, variables, streams and signals. */
export interface CommandProcess extends Pick<Invocation, "cwd" | "env" | "stdin" | "stdout" | "stderr"> {
  interrupt: Interrupt;
}

/** Runs one `tandem` command and resolves with its exit code. */
export async function runCommand(args: readonly string[], process: CommandProcess): Promise<number> {
  const { stdout, stderr, interrupt } = process;
  let exitCode: number | undefined;
  const program = await createProgram(
    version,
    async (command, action) => {
      exitCode = (await action(invocationOf(command, process))) ?? undefined;
    },
    [...args],
  );
  program.exitOverride();
  for (const command of withSubcommands(program)) {
    const writeOut = (text: string): void => void stdout.write(text);
    const writeErr = (text: string): void => void stderr.write(text);
    command.exitOverride().configureOutput({ writeOut, writeErr, outputError: () => {} });
  }
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(args, { from: "user" });
    // A command's own exit code takes precedence over the signal: a server that was told to stop succeeded.
    return exitCode ?? interrupt.exitCode() ?? EXIT_CODES.ok.code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT_CODES.ok.code;
    // A group without a subcommand has printed its help.
    if (error instanceof CommanderError && error.code === "commander.help") return EXIT_CODES.usage.code;
    const { reportError } = await import("./report-error.ts");
    const code = await reportError(error, {
      json: args.includes("--json") || /--output-format[ =](stream-)?json/.test(args.join(" ")),
      debug: args.includes("--debug"),
      stderr,
    });
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

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}
