import { createHash } from "node:crypto";
import { readdir, readFile, realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { RequestError } from "@tandem/protocol";
import { openFound } from "./open-inside.ts";

/** More than people write by hand. What is larger cannot be read before it is trusted, and so is not trusted. */
const MOST_FILES = 5_000;
const MOST_BYTES = 50 * 1024 * 1024;

const FOLDER = ".claude";
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
  text(path: string): string | undefined;
}

/**
 * Reads `.claude` and `.mcp.json` of a folder. Links and special files are refused, and so is more than can be read: what a
 * person trusts must be what is loaded.
 */
export async function readFolderConfig(path: string): Promise<FolderConfig> {
  const folder = await realpath(path);
  const files = new Map<string, Buffer>();
  await readInto(files, folder, SERVERS);
  await walk(files, folder, FOLDER);
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
    text: (name) => files.get(name)?.toString("utf8"),
  };
}

async function walk(files: Map<string, Buffer>, folder: string, path: string): Promise<void> {
  if (LEFT_OUT.has(path)) return;
  const entries = await readdir(join(folder, path), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw refused(`${path} cannot be read (${error.code})`);
  });
  for (const entry of entries) {
    const inner = `${path}/${entry.name}`;
    if (entry.isDirectory()) await walk(files, folder, inner);
    else if (entry.isFile()) await readInto(files, folder, inner);
    else throw refused(`${inner} is a link or no plain file`);
  }
}

async function readInto(files: Map<string, Buffer>, folder: string, path: string): Promise<void> {
  try {
    await using opened = await openFound(folder, path, "file");
    files.set(path, await opened.handle.readFile());
  } catch (error) {
    if (error instanceof RequestError && error.code === "not_found") return;
    throw refused(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  const bytes = [...files.values()].reduce((sum, content) => sum + content.length, 0);
  if (files.size > MOST_FILES || bytes > MOST_BYTES) throw refused(`${FOLDER} is larger than anybody could read`);
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
