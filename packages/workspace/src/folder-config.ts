import { createHash } from "node:crypto";
import { opendir, realpath, type FileHandle } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { RequestError } from "@tandem/protocol";
import { openFound } from "./inside/open-inside.ts";
import { readSmallFile } from "./read-small-file.ts";

/** More than people write by hand. Larger configuration cannot be reviewed, so it is never trusted. */
const MAX_FILES = 5_000;
const MAX_FOLDERS = 1_000;
const MAX_DEPTH = 20;
const MAX_BYTES = 50 * 1024 * 1024;

const FOLDER = ".claude";
/** Folders of slash commands: ours first, then those of Claude Code and opencode. */
export const COMMAND_FOLDERS = [".tandem/commands", `${FOLDER}/commands`, ".opencode/command", ".opencode/commands"];
/** Folders of subagents: ours first. */
export const AGENT_FOLDERS = [".tandem/agents", `${FOLDER}/agents`];
const TREES = [FOLDER, ...[...AGENT_FOLDERS, ...COMMAND_FOLDERS].filter((path) => !path.startsWith(`${FOLDER}/`))];
/** Claude Code's own worktrees: work, not configuration. */
const LEFT_OUT = new Set([`${FOLDER}/worktrees`]);
const SERVERS = ".mcp.json";

/**
 * Configuration of a folder that would take effect in a session: settings, hooks, MCP servers, skills, agents,
 * commands.
 */
export interface FolderConfig {
  /** Real path. */
  folder: string;
  /** Hash of everything; undefined if there is nothing. */
  identity: string | undefined;
  /** Relative paths, sorted. */
  files: readonly string[];
  /** The hashed content of a file; undefined if absent. */
  bytes(path: string): Buffer | undefined;
  text(path: string): string | undefined;
}

/**
 * Reads `.claude`, `.mcp.json`, and the agents and commands of a folder. Rejects links, special files and too much content: the
 * trusted content must be exactly the loaded one.
 */
export async function readFolderConfig(path: string): Promise<FolderConfig> {
  const folder = await realpath(path);
  const reading = new ConfigReader(folder);
  await reading.file(SERVERS);
  for (const tree of TREES) await reading.tree(tree);
  const { files } = reading;
  const sorted = [...files.keys()].sort();
  const hash = createHash("sha256");
  for (const name of sorted) {
    const content = createHash("sha256").update(files.get(name)!).digest("hex");
    hash.update(`${JSON.stringify(name)} ${content}\n`);
  }
  return {
    folder,
    identity: sorted.length === 0 ? undefined : hash.digest("hex"),
    files: sorted,
    bytes: (name) => files.get(name),
    text: (name) => files.get(name)?.toString("utf8"),
  };
}

/** Checks sizes before reading, so that too much content is rejected without loading it. */
class ConfigReader {
  readonly files = new Map<string, Buffer>();
  readonly #root: string;
  #folders = 0;
  #bytes = 0;

  constructor(root: string) {
    this.#root = root;
  }

  async tree(path: string, depth = 0): Promise<void> {
    if (LEFT_OUT.has(path)) return;
    if ((this.#folders += 1) > MAX_FOLDERS) throw refused(`it has more than ${MAX_FOLDERS} folders of configuration`);
    if (depth > MAX_DEPTH) throw refused(`${path} is nested too deeply`);
    try {
      for await (const entry of await opendir(join(this.#root, path))) {
        const inner = `${path}/${entry.name}`;
        if (entry.isDirectory()) await this.tree(inner, depth + 1);
        else if (entry.isFile()) await this.file(inner);
        else throw refused(`${inner} is a link or no plain file`);
      }
    } catch (error) {
      if (error instanceof RequestError) throw error;
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") throw refused(`${path} cannot be read (${code})`);
    }
  }

  async file(path: string): Promise<void> {
    await using opened = await openFound(this.#root, path, "file").catch((error: unknown) => {
      if (error instanceof RequestError && error.code === "not_found") return undefined;
      throw refused(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    });
    if (!opened) return;
    const size = Number(opened.stats.size);
    if (this.files.size >= MAX_FILES || this.#bytes + size > MAX_BYTES) {
      throw refused("its configuration is too large to review");
    }
    this.#bytes += size;
    this.files.set(path, await readExactly(opened.handle, size, path));
  }
}

/** Reads at most the checked size, even if the file grows. */
async function readExactly(handle: FileHandle, size: number, path: string): Promise<Buffer> {
  const buffer = Buffer.alloc(size + 1);
  let length = 0;
  while (length <= size) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (length !== size) throw refused(`${path} changed while it was read`);
  return buffer.subarray(0, size);
}

/**
 * The main repository of a git worktree; undefined for other folders. The repository must list the worktree: a `.git`
 * file alone proves nothing.
 */
export async function mainFolderOf(path: string): Promise<string | undefined> {
  try {
    const folder = await realpath(path);
    const [, place] = /^gitdir: (.+)\n?$/.exec(await readSmallFile(join(folder, ".git"))) ?? [];
    if (place === undefined) return undefined;
    const admin = await realpath(resolve(folder, place));
    const known = resolve(admin, (await readSmallFile(join(admin, "gitdir"))).trim());
    if ((await realpath(dirname(known))) !== folder) return undefined;
    const common = await realpath(resolve(admin, (await readSmallFile(join(admin, "commondir"))).trim()));
    // Both pointers may be in the folder itself, but only the repository's owner can write there.
    return dirname(admin) === join(common, "worktrees") ? dirname(common) : undefined;
  } catch {
    return undefined;
  }
}

const refused = (why: string): RequestError =>
  new RequestError("invalid_request", `The folder cannot be trusted: ${why}.`);
