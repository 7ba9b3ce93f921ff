import { join } from "node:path";
import { MANAGED_FOLDERS } from "./credentials/report-credentials.ts";
import { keepAnswer, keyOfFiles } from "./kept-answer.ts";

/**
 * Keeps the last answer of `claude auth status` in a file. It is asked again when the binary, a variable, or a file that it reads
 * has changed. On macOS the login is in the keychain, which shows no change: nothing is kept.
 */
export async function keepLoginStatus<T>(
  file: string | undefined,
  asked: { executable: string; variables: Readonly<Record<string, string>> },
  ask: () => Promise<T | string>,
  isAnswer: (status: unknown) => status is T,
): Promise<T | string> {
  if (file === undefined || process.platform !== "linux") return ask();
  return keepAnswer<T | string>(file, () => keyOf(asked), ask, isAnswer);
}

function keyOf({ executable, variables }: Parameters<typeof keepLoginStatus>[1]): Promise<string> {
  const { HOME = "", CLAUDE_CONFIG_DIR } = variables;
  const folder = CLAUDE_CONFIG_DIR ?? join(HOME, ".claude");
  const managed = MANAGED_FOLDERS[process.platform] ?? "";
  const files = [
    executable,
    join(folder, ".credentials.json"),
    join(CLAUDE_CONFIG_DIR ?? HOME, ".claude.json"),
    join(folder, ".config.json"),
    join(managed, "managed-settings.json"),
    join(managed, "managed-settings.d"),
  ];
  return keyOfFiles(
    files,
    Object.entries(variables).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}
