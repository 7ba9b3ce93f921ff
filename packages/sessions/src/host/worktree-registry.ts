import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { worktreeMerge } from "@tandem/protocol";
import { z } from "zod";

const record = z.object({
  session: z.string(),
  folder: z.string(),
  repository: z.string(),
  branch: z.string(),
  from: z.string().nullable(),
  commit: z.string(),
  ports: z.object({ from: z.int(), size: z.int() }),
  /** Uncommitted files right after the setup, which are no work. */
  prepared: z.record(z.string(), z.string()),
  copied: z.int(),
  skipped: z.array(z.object({ path: z.string(), why: z.string() })),
  setup: z.object({ command: z.string(), output: z.string() }).nullable(),
  merged: worktreeMerge.nullable(),
  applied: z.object({ folder: z.string(), files: z.array(z.string()) }).nullable(),
  createdAt: z.string(),
});
export type WorktreeRecord = z.infer<typeof record>;

/** Records of worktrees beyond git's own: a file next to each, on its machine. */
export class WorktreeRegistry {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The path of a session's worktree. */
  folderOf(session: string): string {
    return join(this.#folder, basename(session));
  }

  async get(session: string): Promise<WorktreeRecord | undefined> {
    return readRecord(this.#file(session, "json"));
  }

  async list(): Promise<WorktreeRecord[]> {
    const names = (await readdir(this.#folder).catch(() => [])).filter((name) => name.endsWith(".json"));
    const found = await Promise.all(names.map((name) => readRecord(join(this.#folder, name))));
    return found.filter((entry) => entry !== undefined).toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
  }

  async put(entry: WorktreeRecord): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    // Atomic: another process may read it.
    const draft = this.#file(entry.session, "draft");
    await writeFile(draft, JSON.stringify(entry), { mode: 0o600 });
    await rename(draft, this.#file(entry.session, "json"));
  }

  /** The reverse of the last applied patch. */
  async undoPatch(session: string): Promise<string | undefined> {
    return readFile(this.#file(session, "undo.patch"), "utf8").catch(() => undefined);
  }

  async putUndoPatch(session: string, patch: string): Promise<void> {
    await writeFile(this.#file(session, "undo.patch"), patch, { mode: 0o600 });
  }

  async remove(session: string): Promise<void> {
    for (const kind of ["json", "undo.patch"]) await rm(this.#file(session, kind), { force: true });
  }

  #file(session: string, kind: string): string {
    return join(this.#folder, `${basename(session)}.${kind}`);
  }
}

async function readRecord(file: string): Promise<WorktreeRecord | undefined> {
  try {
    return record.parse(JSON.parse(await readFile(file, "utf8")));
  } catch {
    // Missing, or not created by Tandem.
    return undefined;
  }
}

/** The record of this folder, if it is one of Tandem's worktrees. */
export async function worktreeAt(stateFolder: string, folder: string): Promise<WorktreeRecord | undefined> {
  if (basename(dirname(folder)) !== "worktrees") return undefined;
  const own = await realpath(join(stateFolder, "worktrees")).catch(() => undefined);
  return own === dirname(folder) ? new WorktreeRegistry(own).get(basename(folder)) : undefined;
}

/** Environment variables for programs in a worktree. */
export const worktreeVariables = ({
  folder,
  repository,
  ports,
}: Pick<WorktreeRecord, "folder" | "repository" | "ports">): Record<string, string> => ({
  TANDEM_WORKTREE: folder,
  TANDEM_SOURCE_FOLDER: repository,
  TANDEM_PORT: String(ports.from),
  TANDEM_PORT_COUNT: String(ports.size),
});
