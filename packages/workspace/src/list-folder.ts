import type { Dirent } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import { type FolderEntry, RequestError } from "@tandem/protocol";
import { openInside } from "./inside/open-inside.ts";

/** More entries are not useful to a person and take seconds to read. */
const MAX_ENTRIES = 10_000;
/** Concurrent stats; bounded, to leave resources for the rest of the process. */
const BATCH = 64;

/** Lists a folder inside a root by name, folders first. Omits pipes, sockets and devices. */
export async function listFolder(root: string, path: string): Promise<FolderEntry[]> {
  await using folder = await openInside(root, path, "folder");
  const found: Dirent[] = [];
  for await (const entry of await opendir(folder.place)) {
    if (typeOf(entry) !== undefined) found.push(entry);
    if (found.length > MAX_ENTRIES) {
      throw new RequestError("too_large", `${JSON.stringify(path)} has more than ${MAX_ENTRIES} entries.`, {
        fix: "Search for what you need by name instead.",
      });
    }
  }
  const entries: FolderEntry[] = [];
  for (let from = 0; from < found.length; from += BATCH) {
    const batch = found.slice(from, from + BATCH);
    entries.push(...(await Promise.all(batch.map((entry) => describe(entry, folder.place, folder.path)))));
  }
  return entries.sort(byTypeAndName);
}

async function describe(entry: Dirent, place: string, path: string): Promise<FolderEntry> {
  const { name } = entry;
  const type = typeOf(entry) ?? "file";
  // A file deleted in the meantime has size 0.
  const size =
    type === "file"
      ? await lstat(join(place, name)).then(
          (stats) => stats.size,
          () => 0,
        )
      : 0;
  return { name, path: path === "" ? name : `${path}/${name}`, type, size };
}

function typeOf(entry: Dirent): FolderEntry["type"] | undefined {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : undefined;
}

function byTypeAndName(a: FolderEntry, b: FolderEntry): number {
  if ((a.type === "folder") !== (b.type === "folder")) return a.type === "folder" ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
