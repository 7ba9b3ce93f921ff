import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type SourceConfig, openSource } from "../open-source.ts";
import type { Source, SourceEntry } from "../source.ts";

/** A temporary folder with these files. */
export async function makeFiles(files: Readonly<Record<string, string | Uint8Array>>) {
  const path = await mkdtemp(join(tmpdir(), "tandem-sources-"));
  const write = async (name: string, content: string | Uint8Array): Promise<void> => {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content);
  };
  for (const [name, content] of Object.entries(files)) await write(name, content);
  return {
    path,
    write,
    remove: (name: string) => rm(join(path, name)),
    /** The folder as a source. */
    source: (config: Partial<SourceConfig> = {}, { name = "docs", maxFileMb = 20 } = {}): Source =>
      openSource(
        name,
        { type: "folder", path: ".", ...config },
        { root: path, maxFileMb, leaveOut: join(path, "context") },
      ),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

export async function listed(source: Source): Promise<SourceEntry[]> {
  const entries: SourceEntry[] = [];
  for await (const entry of source.list()) entries.push(entry);
  return entries;
}

export const itemPaths = (entries: readonly SourceEntry[]): string[] =>
  entries.flatMap((entry) => (entry.type === "item" ? [entry.item.path] : []));

export const skippedCodes = (entries: readonly SourceEntry[]): Record<string, string> =>
  Object.fromEntries(entries.flatMap((entry) => (entry.type === "skipped" ? [[entry.path, entry.error.code]] : [])));

/** Text of an item with Markdown bytes. */
export async function textOf(entries: readonly SourceEntry[], path: string): Promise<string> {
  const entry = entries.find((each) => each.type === "item" && each.item.path === path);
  if (entry?.type !== "item") throw new Error(`There is no item ${path}, but ${itemPaths(entries).join(", ")}.`);
  return new TextDecoder().decode(await entry.item.read());
}
