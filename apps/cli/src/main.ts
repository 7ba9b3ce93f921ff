import { type Command, CommanderError } from "commander";
import manifest from "../package.json" with { type: "json" };
import type { Invocation } from "./invocation.ts";
import { EXIT_CODES } from "./exit-code.ts";
import { catchInterrupts } from "./interrupt.ts";
import { createProgram } from "./program.ts";

/** A command that has ended leaves nothing running; should something hold on, the process ends without it. */
const LINGER_MS = 1_000;

const { version } = manifest;
const args = process.argv.slice(2);
const interrupt = catchInterrupts();

for (const stream of [process.stdout, process.stderr]) {
  // Every write that matters reports its own failure; this one is for a reader that has gone away.
  stream.on("error", () => {});
  // A terminal without a size, as some containers have, would get one character per line.
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
    // A command that says how it ended knows better than the signal: a server that was asked to stop has done its work.
    return exitCode ?? interrupt.exitCode() ?? EXIT_CODES.ok.code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT_CODES.ok.code;
    // `tandem config` alone: its help has been printed.
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
