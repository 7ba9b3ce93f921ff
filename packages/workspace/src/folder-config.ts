import { createHash } from "node:crypto";
import { opendir, readFile, realpath, type FileHandle } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { RequestError } from "@tandem/protocol";
import { openFound } from "./open-inside.ts";

/** More than people write by hand. What is larger cannot be read before it is trusted, and so is not trusted. */
const MOST_FILES = 5_000;
const MOST_FOLDERS = 1_000;
const MOST_DEPTH = 20;
const MOST_BYTES = 50 * 1024 * 1024;

const FOLDER = ".claude";
/** Where a folder keeps its slash commands: ours first, then those that Claude Code and opencode know. */
export const COMMAND_FOLDERS = [".tandem/commands", `${FOLDER}/commands`, ".opencode/command", ".opencode/commands"];
const TREES = [FOLDER, ...COMMAND_FOLDERS.filter((path) => !path.startsWith(`${FOLDER}/`))];
/** Worktrees of Claude Code's own: work, not configuration. */
const LEFT_OUT = new Set([`${FOLDER}/worktrees`]);
const SERVERS = ".mcp.json";

/** What of a folder would act in a session if it were loaded: settings, hooks, MCP servers, skills, agents, commands. */
export interface FolderConfig {
  /** Its real path. */
  folder: string;
  /** A hash of everything; undefined where there is nothing. */
  identity: string | undefined;
  /** Paths from the folder on, in order. */
  files: readonly string[];
  /** What was hashed, of a file; undefined where there is none. */
  bytes(path: string): Buffer | undefined;
  text(path: string): string | undefined;
}

/**
 * Reads `.claude`, `.mcp.json` and the commands of a folder. Links and special files are refused, and so is more than can be read: what a
 * person trusts must be what is loaded.
 */
export async function readFolderConfig(path: string): Promise<FolderConfig> {
  const folder = await realpath(path);
  const reading = new Reading(folder);
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

/** Counts before it reads: what is too much is refused without having been taken in. */
class Reading {
  readonly files = new Map<string, Buffer>();
  readonly #root: string;
  #folders = 0;
  #bytes = 0;

  constructor(root: string) {
    this.#root = root;
  }

  async tree(path: string, depth = 0): Promise<void> {
    if (LEFT_OUT.has(path)) return;
    if ((this.#folders += 1) > MOST_FOLDERS) throw refused(`it has more than ${MOST_FOLDERS} folders of configuration`);
    if (depth > MOST_DEPTH) throw refused(`${path} is nested too deeply`);
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
    if (this.files.size >= MOST_FILES || this.#bytes + size > MOST_BYTES) {
      throw refused("its configuration is larger than anybody could read");
    }
    this.#bytes += size;
    this.files.set(path, await readExactly(opened.handle, size, path));
  }
}

/** No more than there was when it was counted, however fast the file grows. */
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
 * The folder that a git worktree belongs to; undefined for any other folder. The repository itself must know the worktree:
 * a `.git` file that only claims to belong there says nothing.
 */
export async function mainFolderOf(path: string): Promise<string | undefined> {
  try {
    const folder = await realpath(path);
    const [, place] = /^gitdir: (.+)\n?$/.exec(await readFile(join(folder, ".git"), "utf8")) ?? [];
    if (place === undefined) return undefined;
    const admin = await realpath(resolve(folder, place));
    const known = resolve(admin, (await readFile(join(admin, "gitdir"), "utf8")).trim());
    if ((await realpath(dirname(known))) !== folder) return undefined;
    const common = await realpath(resolve(admin, (await readFile(join(admin, "commondir"), "utf8")).trim()));
    return dirname(common);
  } catch {
    return undefined;
  }
}

const refused = (why: string): RequestError =>
  new RequestError("invalid_request", `The folder cannot be trusted: ${why}.`);
