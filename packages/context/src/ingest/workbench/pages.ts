import { diffLines } from "@tandem/workspace";
import type { ContextFolder } from "../../folder/context-folder.ts";
import { leftAlone } from "../../folder/left-alone.ts";
import { fromLines, toLines } from "../../lines/line-edits.ts";
import { mergeEdits } from "../../lines/merge-edits.ts";
import { z } from "zod";

/** What an agent has made of a file, beside what it was when the agent began: part of what a step keeps. */
export const pageChange = z.strictObject({
  path: z.string(),
  before: z.string().nullable(),
  /** Null: it goes. */
  after: z.string().nullable(),
  /** Citations that were named as reasons for the change, beside those in the text. */
  basis: z.array(z.string()),
});
export type PageChange = z.output<typeof pageChange>;

export interface Conflict {
  path: string;
  /** As it was when the one who comes second began. */
  base: string | null;
  /** As it is by now. */
  current: string | null;
  /** As the one who comes second wants it. */
  wanted: string | null;
  by: string;
  basis: readonly string[];
}

/** The wiki as a run would have it: what is in the folder, and the changes of one agent after the other. */
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

  /** Who has changed it. */
  by(path: string): string[] {
    return [...(this.#by.get(path) ?? [])];
  }

  /** What is different from the folder. */
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

  /** Takes in what somebody has changed, three-way; what does not fit is left out and returned. */
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

  /** Takes back what was done to a file. */
  restore(path: string): void {
    const base = this.#base.get(path);
    if (base === undefined) this.#current.delete(path);
    else this.#current.set(path, base);
  }
}

/** Undefined if both have changed the same lines. */
function mergeText(base: string | null, current: string | null, wanted: string | null): string | null | undefined {
  if (wanted === base || wanted === current) return current;
  if (current === base) return wanted;
  // One removes what the other has changed.
  if (wanted === null || current === null) return undefined;
  const { lines, outcomes } = mergeEdits(toLines(base), toLines(current), diffLines(toLines(base), toLines(wanted)));
  return outcomes.includes("conflict") ? undefined : fromLines(lines);
}
