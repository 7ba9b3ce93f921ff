/**
 * Variables for a run that must find nothing of the user's: no login, no key, no settings. The home is a scratch folder,
 * and what is not listed here does not exist.
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
  };
}
