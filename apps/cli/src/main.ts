import { type Command, CommanderError } from "commander";
import manifest from "../package.json" with { type: "json" };
import type { Invocation } from "./invocation.ts";
import { EXIT_CODES } from "./exit-code.ts";
import { catchInterrupts } from "./interrupt.ts";
import { createProgram } from "./program.ts";

/** A finished command leaves nothing running. If a handle remains, exit after this time anyway. */
const LINGER_MS = 1_000;

const { version } = manifest;
const args = process.argv.slice(2);
const interrupt = catchInterrupts();

for (const stream of [process.stdout, process.stderr]) {
  // Important writes report their own errors. This handler ignores a closed pipe.
  stream.on("error", () => {});
  // Some containers have a terminal of width 0, which would wrap every character.
  if (stream.isTTY && stream.columns === 0) stream.columns = 80;
}

process.exitCode = await run();
setTimeout(() => process.exit(), LINGER_MS).unref();

async function run(): Promise<number> {
  let exitCode: number | undefined;
  const program = await createProgram(
    version,
    async (command, action) => {
      exitCode = (await action(invocationOf(command))) ?? undefined;
    },
    args,
  );
  program.exitOverride();
  for (const command of withSubcommands(program)) {
    command.exitOverride().configureOutput({ outputError: () => {} });
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
      stderr: process.stderr,
    });
    return interrupt.exitCode() ?? code;
  }
}

function invocationOf(command: Command): Invocation {
  const options = command.optsWithGlobals<{ project?: string; claudePath?: string; json?: boolean; debug?: boolean }>();
  return {
    version,
    cwd: process.cwd(),
    env: process.env,
    signal: interrupt.signal,
    allowToStop: (graceMs) => interrupt.allow(graceMs),
    project: options.project ?? (process.env["TANDEM_PROJECT"] || undefined),
    claudePath: options.claudePath,
    // `status` and `doctor` report the same warnings to programs.
    warn: process.stderr.isTTY && !options.json ? (message) => process.stderr.write(`${message}\n`) : undefined,
    json: options.json ?? false,
    debug: options.debug ?? false,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
  };
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}
