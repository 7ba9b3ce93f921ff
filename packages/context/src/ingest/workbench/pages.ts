import { diffLines } from "@tandem/workspace";
import type { ContextFolder } from "../../folder/context-folder.ts";
import { leftAlone } from "../../folder/left-alone.ts";
import { fromLines, toLines } from "../../lines/line-edits.ts";
import { mergeEdits } from "../../lines/merge-edits.ts";
import { z } from "zod";

/** An agent's change to a file relative to its start; part of a stored step. */
export const pageChange = z.strictObject({
  path: z.string(),
  before: z.string().nullable(),
  /** Null: it is removed. */
  after: z.string().nullable(),
  /** Additional citations that justify the change. */
  basis: z.array(z.string()),
});
export type PageChange = z.output<typeof pageChange>;

export interface Conflict {
  path: string;
  /** Content at the start of the later change. */
  base: string | null;
  /** Current content. */
  current: string | null;
  /** Content wanted by the later change. */
  wanted: string | null;
  by: string;
  basis: readonly string[];
}

/** The wiki of a run: the folder's content plus the changes of its agents. */
export class Pages {
  readonly #base: ReadonlyMap<string, string>;
  readonly #current: Map<string, string>;
  readonly #basis = new Map<string, Set<string>>();
  readonly #by = new Map<string, Set<string>>();

  private constructor(base: ReadonlyMap<string, string>) {
    this.#base = base;
    this.#current = new Map(base);
  }

  static async read(folder: Pick<ContextFolder, "list" | "read">): Promise<Pages> {
    const base = new Map<string, string>();
    for (const path of await folder.list("wiki/")) {
      const text = await folder.read(path).catch(leftAlone);
      if (text !== undefined) base.set(path, text);
    }
    return new Pages(base);
  }

  get paths(): string[] {
    return [...this.#current.keys()].sort();
  }

  read(path: string): string | null {
    return this.#current.get(path) ?? null;
  }

  before(path: string): string | null {
    return this.#base.get(path) ?? null;
  }

  /** Agents that changed it. */
  by(path: string): string[] {
    return [...(this.#by.get(path) ?? [])];
  }

  /** Differences from the folder. */
  get changes(): PageChange[] {
    const paths = [...new Set([...this.#base.keys(), ...this.#current.keys()])].sort();
    return paths
      .filter((path) => this.before(path) !== this.read(path))
      .map((path) => ({
        path,
        before: this.before(path),
        after: this.read(path),
        basis: [...(this.#basis.get(path) ?? [])],
      }));
  }

  /** Merges changes three-way; conflicting ones are skipped and returned. */
  merge(changes: readonly PageChange[], by: string): Conflict[] {
    return changes.flatMap((change): Conflict[] => {
      const { path, before, after, basis } = change;
      const current = this.read(path);
      const merged = mergeText(before, current, after);
      if (merged === undefined) return [{ path, base: before, current, wanted: after, by, basis }];
      if (merged !== current) this.set(path, merged, by, basis);
      return [];
    });
  }

  set(path: string, text: string | null, by: string, basis: readonly string[]): void {
    if (text === null) this.#current.delete(path);
    else this.#current.set(path, text);
    this.#basis.set(path, new Set([...(this.#basis.get(path) ?? []), ...basis]));
    this.#by.set(path, new Set([...(this.#by.get(path) ?? []), by]));
  }

  /** Reverts the changes to a file. */
  restore(path: string): void {
    const base = this.#base.get(path);
    if (base === undefined) this.#current.delete(path);
    else this.#current.set(path, base);
  }
}

/** Undefined if both changed the same lines. */
function mergeText(base: string | null, current: string | null, wanted: string | null): string | null | undefined {
  if (wanted === base || wanted === current) return current;
  if (current === base) return wanted;
  // One side removed what the other changed.
  if (wanted === null || current === null) return undefined;
  const { lines, outcomes } = mergeEdits(toLines(base), toLines(current), diffLines(toLines(base), toLines(wanted)));
  return outcomes.includes("conflict") ? undefined : fromLines(lines);
}
