import { realpath } from "node:fs/promises";
import { type FolderConfig, listFolder, readInside } from "@tandem/workspace";

const MAX_FILES = 500;
const MAX_DEPTH = 4;
const MAX_BYTES = 256 * 1_024;

export interface FoundFile {
  /** Relative to the folder, with `/`, without `.md`. */
  name: string;
  /** Relative to the root. */
  path: string;
  text: string;
}

/** Finds Markdown files in a folder below a root. Skips links out of the root, large files and binary files. */
export async function findMarkdown(root: string, folder: string): Promise<FoundFile[]> {
  const real = await realpath(root).catch(() => undefined);
  if (real === undefined) return [];
  const found: FoundFile[] = [];
  const folders = [folder];
  for (const path of folders) {
    const entries = await listFolder(real, path).catch(() => []);
    for (const entry of entries) {
      if (entry.type === "folder" && depth(entry.path) - depth(folder) < MAX_DEPTH) folders.push(entry.path);
      if (entry.type === "folder" || !/\.md$/i.test(entry.name)) continue;
      const content = await readInside(real, entry.path, { maxBytes: MAX_BYTES }).catch(() => undefined);
      if (!content || !("text" in content) || content.truncated) continue;
      found.push({ name: nameIn(folder, entry.path), path: entry.path, text: content.text });
      if (found.length >= MAX_FILES) return found;
    }
  }
  return found;
}

/** The same files of a trusted folder, with the content that was trusted. */
export function trustedMarkdown(config: FolderConfig, folder: string): FoundFile[] {
  const paths = config.files.filter(
    (path) => path.startsWith(`${folder}/`) && /\.md$/i.test(path) && depth(path) - depth(folder) <= MAX_DEPTH,
  );
  return paths.slice(0, MAX_FILES).flatMap((path) => {
    const text = config.text(path) ?? "";
    return text.length > MAX_BYTES || text.includes("\0") ? [] : [{ name: nameIn(folder, path), path, text }];
  });
}

const nameIn = (folder: string, path: string): string =>
  path.slice(folder === "" ? 0 : folder.length + 1).replace(/\.md$/i, "");

const depth = (path: string): number => path.split("/").length;
