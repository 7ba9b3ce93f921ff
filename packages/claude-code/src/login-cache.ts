import { createHash, randomUUID } from "node:crypto";
import { readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { MANAGED_FOLDERS } from "./credentials/report-credentials.ts";

const kept = z.object({ key: z.string(), status: z.unknown() });

/**
 * Keeps the last answer of `claude auth status` in a file: asking takes half a second of CPU. It is asked again when the binary,
 * a variable, or a file that it reads has changed. On macOS the login is in the keychain, which shows no change: nothing is kept.
 */
export async function keepLoginStatus<T>(
  file: string | undefined,
  asked: { executable: string; variables: Readonly<Record<string, string>> },
  ask: () => Promise<T>,
  isAnswer: (status: unknown) => status is Exclude<T, string>,
): Promise<T> {
  if (file === undefined || process.platform !== "linux") return ask();
  const key = await keyOf(asked);
  const found = await readFile(file, "utf8")
    .then((text) => kept.parse(JSON.parse(text)))
    .catch(() => undefined);
  if (found?.key === key && isAnswer(found.status)) return found.status;
  const status = await ask();
  // Without a failure's answer, and not if a file has changed while Claude Code read it.
  if (isAnswer(status) && (await keyOf(asked)) === key) await write(file, { key, status });
  return status;
}

async function keyOf({ executable, variables }: Parameters<typeof keepLoginStatus>[1]): Promise<string> {
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
  const states = await Promise.all(
    files.map((each) =>
      stat(each, { bigint: true }).then(
        ({ ino, size, mtimeNs, ctimeNs }) => [each, ino, size, mtimeNs, ctimeNs].join(" "),
        () => each,
      ),
    ),
  );
  const named = Object.entries(variables).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([states, named]))
    .digest("hex");
}

/** It names the account, so only the user may read it. A failure costs only time. */
async function write(file: string, entry: z.infer<typeof kept>): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, JSON.stringify(entry), { mode: 0o600, flag: "wx" });
    await rename(draft, file);
  } catch {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}
