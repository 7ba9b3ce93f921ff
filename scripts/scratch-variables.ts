import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Variables for a run that must find nothing of the user's: no login, no key, no settings. The home is a scratch folder,
 * and what is not listed here does not exist. Compiled code is kept from run to run, which halves the start of Node.
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
