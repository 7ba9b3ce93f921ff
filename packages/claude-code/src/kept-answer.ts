import { createHash, randomUUID } from "node:crypto";
import { readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { z } from "zod";

const kept = z.object({ key: z.string(), status: z.unknown() });

/**
 * Keeps the last answer of a program in a file, because asking takes up to half a second of CPU. It is asked again when `keyOf`
 * returns another key, and always if that returns none.
 */
export async function keepAnswer<T>(
  file: string,
  keyOf: () => Promise<string | undefined>,
  ask: () => Promise<T>,
  isAnswer: (status: unknown) => status is T,
): Promise<T> {
  const key = await keyOf();
  if (key === undefined) return ask();
  const found = await readFile(file, "utf8")
    .then((text) => kept.parse(JSON.parse(text)))
    .catch(() => undefined);
  if (found?.key === key && isAnswer(found.status)) return found.status;
  const status = await ask();
  // Without a failure's answer, and not if a file has changed while the program read it.
  if (isAnswer(status) && (await keyOf()) === key) await write(file, { key, status });
  return status;
}

/** A key that changes with each of these files and with `others`. */
export async function keyOfFiles(files: readonly string[], others: unknown): Promise<string> {
  const states = await Promise.all(
    files.map((each) =>
      stat(each, { bigint: true }).then(
        ({ dev, ino, size, mtimeNs, ctimeNs }) => [each, dev, ino, size, mtimeNs, ctimeNs].join(" "),
        () => each,
      ),
    ),
  );
  return createHash("sha256")
    .update(JSON.stringify([states, others]))
    .digest("hex");
}

/** An answer may name the account, so only the user may read it. A failure costs only time. */
async function write(file: string, entry: z.infer<typeof kept>): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, JSON.stringify(entry), { mode: 0o600, flag: "wx" });
    await rename(draft, file);
  } catch {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}
