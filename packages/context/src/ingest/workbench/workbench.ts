import { ContextFiles } from "../../folder/context-files.ts";
import type { ContextFolder, ContextWorktree } from "../../folder/context-folder.ts";
import { type PageFile, pageKeyOf, pagePath, readPage } from "../../wiki/page-file.ts";
import type { PageChange, Pages } from "./pages.ts";
import { leftAlone } from "../../folder/left-alone.ts";

/** A private copy of the wiki for one agent, and its changes. */
export class Workbench implements AsyncDisposable {
  readonly #worktree: ContextWorktree;
  readonly #files: ContextFiles;
  readonly #start = new Map<string, string>();
  readonly #basis = new Map<string, Set<string>>();
  /** Pages that the agent has read completely; it may not overwrite others. */
  readonly #seen = new Set<string>();

  private constructor(worktree: ContextWorktree) {
    this.#worktree = worktree;
    this.#files = new ContextFiles(worktree.path);
  }

  /** Starts from the folder or, with `pages`, from the run's current state. */
  static async open(folder: Pick<ContextFolder, "worktree">, name: string, pages?: Pages): Promise<Workbench> {
    const bench = new Workbench(await folder.worktree(name, { under: ["wiki/"] }));
    try {
      if (pages) {
        const wanted = new Set(pages.paths);
        for (const path of await bench.#files.list("wiki/")) if (!wanted.has(path)) await bench.#files.remove(path);
        for (const path of wanted) {
          const text = pages.read(path)!;
          if ((await bench.read(path)) !== text) await bench.#files.write(path, text);
        }
      }
      for (const path of await bench.#files.list("wiki/")) {
        const text = await bench.read(path);
        if (text !== undefined) bench.#start.set(path, text);
      }
      return bench;
    } catch (error) {
      await bench[Symbol.asyncDispose]();
      throw error;
    }
  }

  async paths(): Promise<string[]> {
    return (await this.#files.list("wiki/")).filter((path) => pageKeyOf(path) !== undefined);
  }

  read(path: string): Promise<string | undefined> {
    return this.#files.read(path).catch(leftAlone);
  }

  /** Content when the agent started. */
  before(path: string): string | undefined {
    return this.#start.get(path);
  }

  /** Undefined if it does not exist or is not a valid page. */
  async page(key: string): Promise<PageFile | undefined> {
    return readPage(pagePath(key), await this.read(pagePath(key)));
  }

  async pages(): Promise<PageFile[]> {
    const found: PageFile[] = [];
    for (const path of await this.paths()) {
      const page = await this.page(pageKeyOf(path)!);
      if (page) found.push(page);
    }
    return found;
  }

  markSeen(path: string): void {
    this.#seen.add(path);
  }

  isSeen(path: string): boolean {
    return this.#seen.has(path);
  }

  async write(path: string, text: string, basis: readonly string[]): Promise<void> {
    await this.#files.write(path, text);
    this.#seen.add(path);
    this.#note(path, basis);
  }

  async remove(path: string, basis: readonly string[]): Promise<void> {
    await this.#files.remove(path);
    this.#note(path, basis);
  }

  #note(path: string, basis: readonly string[]): void {
    this.#basis.set(path, new Set([...(this.#basis.get(path) ?? []), ...basis]));
  }

  async changes(): Promise<PageChange[]> {
    const paths = [...new Set([...this.#start.keys(), ...(await this.#files.list("wiki/"))])].sort();
    const changes: PageChange[] = [];
    for (const path of paths) {
      const before = this.#start.get(path) ?? null;
      const after = (await this.read(path)) ?? null;
      if (before !== after) changes.push({ path, before, after, basis: [...(this.#basis.get(path) ?? [])] });
    }
    return changes;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#worktree[Symbol.asyncDispose]());
  }
}
