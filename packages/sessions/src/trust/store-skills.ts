import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import type { Clock } from "@tandem/protocol";
import type { FolderConfig } from "@tandem/workspace";

/** A resumed conversation may refer to files of a skill, so copies stay for a while. */
const KEEP_MS = 30 * 24 * 60 * 60 * 1_000;

const SKILLS = ".claude/skills/";
/** Our own manifest: the folder's plugin settings (hooks, servers, other paths) are not copied. */
const MANIFEST = ".claude-plugin/plugin.json";

/**
 * Copies a folder's skills for Claude Code, by content hash: exactly the trusted bytes, and only skills. A folder's own
 * `.claude` can change at any time, and Claude Code would also load its hooks. A modified copy is rebuilt. Returns its path.
 */
export async function storeSkills(
  stateFolder: string,
  config: FolderConfig,
  clock: Pick<Clock, "now">,
): Promise<string> {
  const files = skillFiles(config);
  const hash = createHash("sha256");
  for (const [path, bytes] of files) {
    hash.update(`${JSON.stringify(path)} ${createHash("sha256").update(bytes).digest("hex")}\n`);
  }
  // In a folder that Claude Code may read: a skill refers to files next to it.
  const copies = join(stateFolder, "claude-code", "folder-skills");
  const place = join(copies, hash.digest("hex").slice(0, 32));
  if (!(await isIntact(place, files))) await build(place, files);
  const now = clock.now();
  await utimes(place, now / 1_000, now / 1_000);
  await removeUnused(copies, now - KEEP_MS);
  return place;
}

async function removeUnused(copies: string, before: number): Promise<void> {
  for (const name of await readdir(copies)) {
    const path = join(copies, name);
    const used = await stat(path).catch(() => undefined);
    if (used && used.mtimeMs < before) await rm(path, { recursive: true, force: true });
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

/** Atomic: another process may read it. */
async function build(place: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
  const draft = `${place}.${randomUUID()}`;
  try {
    for (const [path, bytes] of files) {
      const file = join(draft, path);
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      // Scripts stay executable.
      await writeFile(file, bytes, { mode: bytes.subarray(0, 2).toString() === "#!" ? 0o500 : 0o400 });
    }
    await rm(place, { recursive: true, force: true });
    await rename(draft, place);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process created the same copy first.
    if (!(await isIntact(place, files))) throw error;
  }
}
