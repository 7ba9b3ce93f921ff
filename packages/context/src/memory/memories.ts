import type { ContextFolder } from "../folder/context-folder.ts";
import { leftAlone } from "../folder/left-alone.ts";
import { type MemoryFile, memoryPath, parseMemory } from "./memory-file.ts";

/** How many files are read at once. */
const AT_ONCE = 64;

/** A memory as it stands in the folder. */
export interface StoredMemory extends MemoryFile {
  /** The whole file. */
  file: string;
}

/** The memories of a context, as people have left them. Files that cannot be read as one are passed over. */
export class Memories {
  readonly #folder: Pick<ContextFolder, "list" | "read">;

  constructor(folder: Pick<ContextFolder, "list" | "read">) {
    this.#folder = folder;
  }

  /** Of every store, in the order in which they were made. */
  async all(): Promise<StoredMemory[]> {
    const paths = (await this.#folder.list("memory/")).filter((path) => path.endsWith(".md"));
    const found: StoredMemory[] = [];
    for (let from = 0; from < paths.length; from += AT_ONCE) {
      const files = await Promise.all(paths.slice(from, from + AT_ONCE).map((path) => this.#read(path)));
      found.push(...files.filter((memory) => memory !== undefined));
    }
    return found.toSorted((a, b) => compare(a.createdAt, b.createdAt) || compare(a.id, b.id));
  }

  /** The context's own: not those that a program has put into a store of its own. */
  async own(): Promise<StoredMemory[]> {
    return (await this.all()).filter(({ store }) => store === undefined);
  }

  async get(id: string): Promise<StoredMemory | undefined> {
    return /^[\w-]+$/.test(id) ? this.#read(memoryPath(id)) : undefined;
  }

  async #read(path: string): Promise<StoredMemory | undefined> {
    const file = await this.#folder.read(path).catch(leftAlone);
    const parsed = file === undefined ? undefined : parseMemory(file);
    // A copy under another name is nobody's memory: its id leads to the file that it was copied from.
    if (!parsed?.success || path !== memoryPath(parsed.memory.id)) return undefined;
    return { ...parsed.memory, file: file! };
  }
}

/** Those that say otherwise, whichever of the two files says so. */
export const contradictionsOf = <T extends MemoryFile>(memory: MemoryFile, all: readonly T[]): T[] =>
  all.filter(({ id, contradicts }) => memory.contradicts.includes(id) || contradicts.includes(memory.id));

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
