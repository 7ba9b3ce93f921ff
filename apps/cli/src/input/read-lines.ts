import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { TandemError } from "@tandem/protocol";
import type { Invocation } from "../invocation.ts";

/**
 * The lines of a file, or of stdin without a path. Opened with the first read, because lines that arrive without a
 * listener would be lost. `signal` ends stdin early.
 */
export async function* readLines(
  { cwd, stdin }: Invocation,
  path: string | undefined,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  if (path === undefined) {
    return yield* createInterface({ input: stdin, crlfDelay: Infinity, ...(signal && { signal }) });
  }
  await using handle = await open(resolve(cwd, path)).catch(cannotRead(path));
  yield* handle.readLines({ autoClose: false });
}

export const cannotRead = (path: string) => (cause: NodeJS.ErrnoException) => {
  const reason = cause.code === "ENOENT" ? "it does not exist" : `${cause.code}`;
  throw new TandemError("usage", `Cannot read ${path}: ${reason}.`, { fix: "Check the path.", cause });
};
