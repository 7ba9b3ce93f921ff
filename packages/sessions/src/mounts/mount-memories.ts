import { createHash } from "node:crypto";
import {
  checkMemoryPath,
  MemoryPathConflict,
  MemoryPreconditionFailed,
  RequestError,
  type FullEntry,
  type MemoryStoreResource,
  type SessionEventBody,
  type StoreEntry,
  type StoreMemories,
} from "@tandem/protocol";
import { deleteRecords, type Records, type SessionRow } from "@tandem/storage";
import { listFolder, makeFolderInside, readInside, removeInside, replaceInside } from "@tandem/workspace";
import { z } from "zod";

const SPACE = "tandem";
const KIND = "memory_mount";
const MAX_BYTES = 100 * 1024;
const MAX_FILES = 2_000;
const SHOWN_TEXT = 20_000;
const MAX_SHOWN = 20;

/** The hash of each memory when the folder and the store were last the same. */
const manifest = z.record(z.string(), z.string());

export interface MemoryMounts {
  memories: Pick<StoreMemories, "add" | "change" | "entries" | "remove" | "withContent">;
  records: Records;
}

type Mount = Pick<SessionRow, "id" | "folder"> & { resource: MemoryStoreResource };

interface LocalFile {
  sha256: string;
  content: string;
}

/**
 * Synchronises the folder of a memory store with the store: a change on one side is copied to the other. If both changed,
 * the store wins, and the session's text is kept in a notice. Changes of a read-only mount are discarded.
 */
export async function syncMemories(mount: Mount, mounts: MemoryMounts): Promise<SessionEventBody[]> {
  const { resource } = mount;
  const store = resource.memory_store_id;
  // A missing folder was cleaned up, or the session moved to another machine. The agent did not delete the memories.
  const isMissing = await isMissingIn(mount);
  await makeFolderInside(mount.folder, resource.tandem.path);
  const before = isMissing ? {} : await readManifest(mounts.records, mount);
  const { files, skipped } = await readFiles(mount);
  const remote = new Map((await mounts.memories.entries(store)).map((entry) => [entry.path, entry]));
  const lost: string[] = skipped.size === 0 ? [] : [skippedText(resource, skipped)];
  const fetched: string[] = [];
  for (const path of new Set([...files.keys(), ...remote.keys()])) {
    const file = files.get(path);
    const entry = remote.get(path);
    // A file that cannot be a memory is no deletion of the memory.
    if (file?.sha256 === entry?.sha256 || skipped.has(path)) continue;
    const isOurs = file?.sha256 !== before[path];
    const isTheirs = entry?.sha256 !== before[path];
    const isWritable = resource.access === "read_write";
    const refusal = isOurs && !isTheirs && isWritable ? await push(mount, mounts, path, file, entry) : NEWER;
    if (refusal === undefined) continue;
    fetched.push(path);
    if (isOurs && file) lost.push(note(path, file.content, resource, isWritable ? refusal : "the store is read-only"));
  }
  const now = new Map((await mounts.memories.entries(store)).map((entry) => [entry.path, entry]));
  await fetch(mount, mounts, fetched, now);
  const value = Object.fromEntries([...now.values()].map(({ path, sha256 }) => [path, sha256]));
  await mounts.records.write(SPACE, [{ type: "put", kind: KIND, key: keyOf(mount), value }]);
  return lost.map((text) => ({ type: "tandem.notice", level: "warning", text }));
}

export async function forgetMemoryMounts(records: Records, session: string): Promise<void> {
  await deleteRecords(records, SPACE, KIND, { prefix: `${session}/` });
}

const NEWER = "the store has a newer version";

/** Copies a change to the store. Returns why the store does not take it. */
async function push(
  { id, resource }: Mount,
  { memories }: MemoryMounts,
  path: string,
  file: LocalFile | undefined,
  entry: StoreEntry | undefined,
): Promise<string | undefined> {
  const store = resource.memory_store_id;
  const writer = { by: `session ${id}`, actor: { type: "session" as const, id } };
  try {
    if (!file && entry) await memories.remove(store, entry.id, { ...writer, expected: entry.sha256 });
    else if (file && entry) {
      await memories.change(store, entry.id, { ...writer, content: file.content, expected: entry.sha256 });
    } else if (file) await memories.add(store, { ...writer, path, content: file.content });
    return undefined;
  } catch (error) {
    if (error instanceof MemoryPreconditionFailed) return NEWER;
    const isRefused = error instanceof RequestError && error.code !== "unavailable";
    if (!(error instanceof MemoryPathConflict || isRefused)) throw error;
    return `the store refused it (${error.message.replace(/\.$/, "")})`;
  }
}

/** Writes the store's texts into the folder; a memory that the store does not have is deleted there. */
async function fetch(
  { folder, resource }: Mount,
  { memories }: MemoryMounts,
  paths: readonly string[],
  entries: ReadonlyMap<string, StoreEntry>,
): Promise<void> {
  const wanted = paths.flatMap((path) => entries.get(path) ?? []);
  const at = (path: string): string => `${resource.tandem.path}${path}`;
  const gone = paths.filter((path) => !entries.has(path));
  for (const path of gone) await removeInside(folder, at(path)).catch(ignoreMissing);
  const texts: FullEntry[] = wanted.length === 0 ? [] : await memories.withContent(resource.memory_store_id, wanted);
  for (const { path, content } of texts) await replaceInside(folder, at(path), new TextEncoder().encode(content));
}

/** The memories in the folder, and why other files are none. */
async function readFiles({
  folder,
  resource,
}: Mount): Promise<{ files: Map<string, LocalFile>; skipped: Map<string, string> }> {
  const root = resource.tandem.path;
  const files = new Map<string, LocalFile>();
  const skipped = new Map<string, string>();
  const folders = [root];
  for (const each of folders) {
    if (folders.length > MAX_FILES) throw new RequestError("too_large", `it has more than ${MAX_FILES} folders`);
    for (const { path: full, type } of await listFolder(folder, each)) {
      if (type === "folder") folders.push(full);
      else {
        const path = full.slice(root.length);
        const file = type === "file" ? await readMemory(folder, full, path) : "it is a link";
        if (typeof file === "string") skipped.set(path, file);
        else if (files.size < MAX_FILES) files.set(path, file);
        else skipped.set(path, `a store has at most ${MAX_FILES} memories`);
      }
    }
  }
  return { files, skipped };
}

async function isMissingIn({ folder, resource }: Mount): Promise<boolean> {
  try {
    await listFolder(folder, resource.tandem.path);
    return false;
  } catch (error) {
    if (error instanceof RequestError && error.code === "not_found") return true;
    throw error;
  }
}

function skippedText({ mount_path: mount }: MemoryStoreResource, skipped: ReadonlyMap<string, string>): string {
  const shown = [...skipped].slice(0, MAX_SHOWN).map(([path, why]) => `${mount}${path} is not saved: ${why}.`);
  return [
    ...shown,
    ...(skipped.size > MAX_SHOWN ? [`${skipped.size - MAX_SHOWN} more files are not saved.`] : []),
  ].join("\n");
}

/** Or why it cannot be a memory. */
async function readMemory(folder: string, full: string, path: string): Promise<LocalFile | string> {
  try {
    checkMemoryPath(path);
  } catch (error) {
    return error instanceof Error ? error.message.replace(/\.$/, "") : "its path is refused";
  }
  const read = await readInside(folder, full, { maxBytes: MAX_BYTES }).catch((error: unknown) => {
    if (error instanceof RequestError) return undefined;
    throw error;
  });
  if (!read) return "it cannot be read";
  if (!("text" in read)) return "it is not text";
  if (read.truncated) return `it is larger than ${MAX_BYTES / 1024} KB`;
  return { content: read.text, sha256: createHash("sha256").update(read.text).digest("hex") };
}

async function readManifest(records: Records, mount: Mount): Promise<Record<string, string>> {
  const found = await records.get(SPACE, KIND, keyOf(mount));
  return found ? manifest.parse(found.value) : {};
}

const keyOf = ({ id, resource }: Mount): string => `${id}/${resource.memory_store_id}`;

function note(path: string, text: string, { mount_path: mount }: MemoryStoreResource, why: string): string {
  return `The session's version of ${mount}${path} was discarded, because ${why}. It was:\n${text.slice(0, SHOWN_TEXT)}`;
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof RequestError && error.code === "not_found")) throw error;
}
