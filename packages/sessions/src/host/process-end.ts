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
  let late: NodeJS.Timeout | undefined;
  await Promise.race([closed, new Promise((resolve) => (late = setTimeout(resolve, LAST_WORDS_MS)))]);
  clearTimeout(late);
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  return child.exitCode;
}
