import { GitFailed } from "@tandem/workspace";
import { open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { retryGit } from "./retry-git.ts";
import { gitBytes, REWRITTEN_REF } from "./rewrite-history.ts";

const JOURNAL = "tandem-rewrite.json";

/** Refs to move; `to` null deletes one. */
const journal = z.object({
  updates: z.array(z.object({ ref: z.string(), from: z.string(), to: z.string().nullable() })),
});
type RewriteJournal = z.output<typeof journal>;

/** From here on the rewrite will be completed, by this process or by the next one that opens the context. */
export async function writeJournal(gitDir: string, content: RewriteJournal): Promise<void> {
  const draft = join(gitDir, `${JOURNAL}.new`);
  const file = await open(draft, "w", 0o600);
  try {
    await file.writeFile(JSON.stringify(content));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, join(gitDir, JOURNAL));
}

/** Moves the refs and deletes the old objects. Does nothing without a journal; can be repeated after a crash. */
export async function finishRewrite(gitDir: string): Promise<void> {
  const updates = await readJournal(gitDir);
  if (!updates) return;
  // Race: the git process of a killed Tandem may still be moving them.
  await retryGit(() => moveRefs(gitDir, updates));
  // Git keeps old commits for these files and for the logs of the refs.
  for (const name of ["ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD"]) {
    await rm(join(gitDir, name), { force: true });
  }
  await gitBytes(gitDir, ["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"]);
  await gitBytes(gitDir, ["gc", "--quiet", "--prune=now"]);
  await gitBytes(gitDir, ["prune", "--expire=now"]);
  await gitBytes(gitDir, ["fsck", "--no-dangling", "--no-progress"]);
  await rm(join(gitDir, JOURNAL));
}

/**
 * Completes the rewrite of a killed process. If git cannot delete the old objects now, such as on a full disk, the context
 * opens nevertheless, and the next open tries again.
 */
export async function resumeRewrite(gitDir: string): Promise<void> {
  try {
    await finishRewrite(gitDir);
  } catch (error) {
    const updates = await readJournal(gitDir);
    const current = await currentRefs(gitDir);
    const isMoved = updates?.every(({ ref, to }) => (current.get(ref) ?? null) === to) ?? true;
    if (!(error instanceof GitFailed) || !isMoved) throw error;
  }
}

async function readJournal(gitDir: string): Promise<RewriteJournal["updates"] | undefined> {
  const text = await readFile(join(gitDir, JOURNAL), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : journal.parse(JSON.parse(text)).updates;
}

async function currentRefs(gitDir: string): Promise<Map<string, string>> {
  const listed = await gitBytes(gitDir, ["for-each-ref", "--format=%(refname) %(objectname)"]);
  return new Map(
    listed
      .split("\n")
      .filter(Boolean)
      .map((line): [string, string] => {
        const [ref = "", object = ""] = line.split(" ");
        return [ref, object];
      }),
  );
}

async function moveRefs(gitDir: string, updates: RewriteJournal["updates"]): Promise<void> {
  const current = await currentRefs(gitDir);
  const commands = updates
    .filter(({ ref, from }) => current.get(ref) === from)
    .map(({ ref, from, to }) => (to === null ? `delete ${ref} ${from}` : `update ${ref} ${to} ${from}`));
  if (current.has(REWRITTEN_REF)) commands.push(`delete ${REWRITTEN_REF}`);
  if (commands.length === 0) return;
  const lines = ["start", ...commands, "prepare", "commit"];
  await gitBytes(gitDir, ["update-ref", "--no-deref", "--stdin"], `${lines.join("\n")}\n`);
}
