import { inParallel } from "@tandem/protocol";
import type { ContextFolder } from "../folder/context-folder.ts";
import { leftAlone } from "../folder/left-alone.ts";
import { type MemoryFile, memoryPath, parseMemory } from "../formats/memory-file.ts";

/** Concurrent file reads. */
const AT_ONCE = 64;

/** A memory as stored in the folder. */
export interface StoredMemory extends MemoryFile {
  /** The whole file. */
  file: string;
}

/** The memories in the folder. Unparsable files are skipped. */
export class Memories {
  readonly #folder: Pick<ContextFolder, "list" | "read">;

  constructor(folder: Pick<ContextFolder, "list" | "read">) {
    this.#folder = folder;
  }

  /** Of all stores, in order of creation. */
  async all(): Promise<StoredMemory[]> {
    const paths = (await this.#folder.list("memory/")).filter((path) => path.endsWith(".md"));
    const found = await inParallel(paths, AT_ONCE, (path) => this.#read(path));
    return found
      .filter((memory) => memory !== undefined)
      .toSorted((a, b) => compare(a.createdAt, b.createdAt) || compare(a.id, b.id));
  }

  /** The context's own memories, without those in stores of programs. */
  async own(): Promise<StoredMemory[]> {
    return (await this.all()).filter(({ store }) => store === undefined);
  }

  async get(id: string): Promise<StoredMemory | undefined> {
    return /^[\w-]+$/.test(id) ? this.#read(memoryPath(id)) : undefined;
  }

  async #read(path: string): Promise<StoredMemory | undefined> {
    const file = await this.#folder.read(path).catch(leftAlone);
    const parsed = file === undefined ? undefined : parseMemory(file);
    // Ignore a copied file: its id belongs to the original's path.
    if (!parsed?.success || path !== memoryPath(parsed.memory.id)) return undefined;
    return { ...parsed.memory, file: file! };
  }
}

/** Contradicting memories, by either file's link. */
export const contradictionsOf = <T extends MemoryFile>(memory: MemoryFile, all: readonly T[]): T[] =>
  all.filter(({ id, contradicts }) => memory.contradicts.includes(id) || contradicts.includes(memory.id));

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
