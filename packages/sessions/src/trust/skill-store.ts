import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import type { FolderConfig } from "@tandem/workspace";

/** A conversation that is taken up again may remember where a skill's files are: they stay for a while. */
const KEEP_MS = 30 * 24 * 60 * 60 * 1_000;

const SKILLS = ".claude/skills/";
/** Ours: what a folder says of itself as a plugin (hooks, servers, paths elsewhere) is not among what is copied. */
const MANIFEST = ".claude-plugin/plugin.json";

/**
 * Copies of skills that Claude Code takes up, each under the hash of what is in it: the very bytes that were trusted, and
 * nothing but skills. A folder's own `.claude` may change at any time, and Claude Code would load its hooks, too.
 */
export class SkillStore {
  readonly #folder: string;

  constructor(stateFolder: string) {
    // Among what Claude Code may read: a skill sends the model to files beside it.
    this.#folder = join(stateFolder, "claude-code", "folder-skills");
  }

  /** Where the copy is. What somebody has changed in it is made anew. */
  async put(config: FolderConfig): Promise<string> {
    const files = skillFiles(config);
    const hash = createHash("sha256");
    for (const [path, bytes] of files) {
      hash.update(`${JSON.stringify(path)} ${createHash("sha256").update(bytes).digest("hex")}\n`);
    }
    const place = join(this.#folder, hash.digest("hex").slice(0, 32));
    if (!(await isIntact(place, files))) await build(place, files);
    const now = new Date();
    await utimes(place, now, now);
    await this.#clear(now.getTime() - KEEP_MS);
    return place;
  }

  /** What nobody has asked for since then. */
  async #clear(before: number): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name);
      const used = await stat(path).catch(() => undefined);
      if (used && used.mtimeMs < before) await rm(path, { recursive: true, force: true });
    }
  }
}

function skillFiles(config: FolderConfig): Map<string, Buffer> {
  const skills = config.files.filter((path) => path.startsWith(SKILLS));
  return new Map([
    [MANIFEST, Buffer.from(`${JSON.stringify({ name: "folder" })}\n`)],
    ...skills.map((path): [string, Buffer] => [path.slice(".claude/".length), config.bytes(path)!]),
  ]);
}

async function isIntact(place: string, files: ReadonlyMap<string, Buffer>): Promise<boolean> {
  try {
    const entries = (await readdir(place, { recursive: true, withFileTypes: true })).filter(
      (entry) => !entry.isDirectory(),
    );
    if (entries.length !== files.size) return false;
    for (const entry of entries) {
      const path = join(entry.parentPath, entry.name);
      const expected = files.get(relative(place, path).split(sep).join("/"));
      if (!entry.isFile() || !expected?.equals(await readFile(path))) return false;
    }
    return true;
  } catch {
    return false;
  }
}

/** Whole or not at all: another process may be looking at it. */
async function build(place: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
  const draft = `${place}.${randomUUID()}`;
  try {
    for (const [path, bytes] of files) {
      const file = join(draft, path);
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      // A script can be started, as in the folder.
      await writeFile(file, bytes, { mode: bytes.subarray(0, 2).toString() === "#!" ? 0o500 : 0o400 });
    }
    await rm(place, { recursive: true, force: true });
    await rename(draft, place);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another has put the same there first.
    if (!(await isIntact(place, files))) throw error;
  }
}
