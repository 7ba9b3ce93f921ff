import { catchInterrupts } from "./interrupt.ts";
import { runCommand } from "./run-command.ts";

/** How long a finished command waits for a slow reader of its output. */
const LINGER_MS = 1_000;

for (const stream of [process.stdout, process.stderr]) {
  // Important writes report their own errors. This handler ignores a closed pipe.
  stream.on("error", () => {});
  // Some containers have a terminal of width 0, which would wrap every character.
  if (stream.isTTY && stream.columns === 0) stream.columns = 80;
}

const { env, stdin, stdout, stderr } = process;
const interrupt = catchInterrupts();
process.exitCode = await runCommand(process.argv.slice(2), {
  cwd: process.cwd(),
  env,
  stdin,
  stdout,
  stderr,
  interrupt,
});
// Saves the milliseconds that Node takes to free its memory.
if (stdout.writableLength === 0 && stderr.writableLength === 0) process.exit();
setTimeout(() => process.exit(), LINGER_MS).unref();
