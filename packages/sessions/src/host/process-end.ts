import { systemClock } from "@tandem/protocol";
import type { OwnedProcess } from "@tandem/claude-code";

/** Output can still arrive after a process has exited. */
const LAST_WORDS_MS = 500;

/** Resolves with a program's exit code when it and all its descendants are dead. Rejects if it could not start. */
export async function processEnd({ process: child, gone }: OwnedProcess): Promise<number | null> {
  const closed = new Promise((resolve) => child.once("close", resolve));
  let failure: Error | undefined;
  child.once("error", (error) => (failure = error));
  await gone;
  if (failure) throw failure;
  const late = Promise.withResolvers<void>();
  const cancel = systemClock.after(LAST_WORDS_MS, late.resolve, { keepsProcess: true });
  await Promise.race([closed, late.promise]);
  cancel();
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  return child.exitCode;
}
