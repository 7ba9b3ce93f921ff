import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Variables for a run without access to the user's login, keys or settings. The home is a scratch folder, and only these
 * variables exist. The compile cache is kept between runs, which halves Node's start time.
 */
export function scratchVariables(folder: string): Record<string, string> {
  const kept = ["PATH", "LANG", "TERM", "CI", "COLORTERM", "FORCE_COLOR", "NO_COLOR", "TMPDIR", "SystemRoot"];
  const inherited = kept.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(inherited),
    HOME: folder,
    CLAUDE_CONFIG_DIR: `${folder}/claude`,
    TANDEM_HOME: `${folder}/tandem`,
    NODE_COMPILE_CACHE: join(tmpdir(), `tandem-test-cache-${process.getuid?.() ?? 0}`),
  };
}
