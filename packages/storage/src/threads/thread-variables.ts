import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";

/** Threads inherit no environment except the compile cache; without it each thread compiles all code again. */
export function threadVariables(): Record<string, string> {
  const folder = getCompileCacheDir();
  // Node reports a version-specific subfolder of the configured one.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
