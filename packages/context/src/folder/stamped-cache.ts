import { inParallel } from "@tandem/protocol";
import type { ContextFolder } from "./context-folder.ts";
import { leftAlone } from "./left-alone.ts";

/** Bounds open files; there may be thousands. */
const AT_ONCE = 64;

/** Parses files of the folder once, and again when they change. */
export class StampedCache<T> {
  readonly #folder: Pick<ContextFolder, "stamps" | "read">;
  readonly #parse: (text: string, path: string) => T | undefined;
  readonly #known = new Map<string, { stamp: string; read: T | undefined }>();

  /** `parse` returns undefined for a file to skip. */
  constructor(folder: Pick<ContextFolder, "stamps" | "read">, parse: (text: string, path: string) => T | undefined) {
    this.#folder = folder;
    this.#parse = parse;
  }

  /** The files under a prefix, or only those with a wanted path. */
  async all(prefix: string, isWanted: (path: string) => boolean = () => true): Promise<T[]> {
    const stamps = await this.#folder.stamps(prefix);
    for (const path of this.#known.keys()) if (path.startsWith(prefix) && !stamps.has(path)) this.#known.delete(path);
    const found: (T | undefined)[] = [];
    const wanted = [...stamps].filter(([path]) => isWanted(path));
    await inParallel(wanted, AT_ONCE, async ([path, stamp], index) => {
      const known = this.#known.get(path);
      if (stamp !== undefined && known?.stamp === stamp) {
        found[index] = known.read;
        return;
      }
      const text = await this.#folder.read(path).catch(leftAlone);
      const read = text === undefined ? undefined : this.#parse(text, path);
      if (stamp !== undefined) this.#known.set(path, { stamp, read });
      found[index] = read;
    });
    return found.filter((each) => each !== undefined);
  }
}
