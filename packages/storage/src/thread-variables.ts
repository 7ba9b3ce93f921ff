import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";

/** A thread gets no variables of ours but where compiled code is kept: without that, each compiles all of it again. */
export function threadVariables(): Record<string, string> {
  const folder = getCompileCacheDir();
  // Node keeps it in a folder of its version's, below the one that it was told.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
