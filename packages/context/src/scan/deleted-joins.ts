import type { Relationship } from "@tandem/relationships";
import { readOutline } from "../catalogue/table-outline.ts";
import type { JoinEntry } from "../catalogue/table-file.ts";
import { joinKey, newJoinEntry } from "../catalogue/table-values.ts";
import type { ContextFolder } from "../folder/context-folder.ts";
import type { KnownTable } from "./known-tables.ts";

/**
 * Joins that people deleted from files, by path; they must not come back. Only checks files that would get new joins.
 */
export async function deletedJoins(
  folder: Pick<ContextFolder, "handEdits">,
  wanted: readonly { known: KnownTable; joins: readonly Relationship[] }[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const missing = wanted.filter(({ known, joins }) => {
    const present = keysOf(known.file.joins);
    return joins.some((join) => join.status !== "rejected" && !present.has(joinKey(newJoinEntry(join))));
  });
  const deleted = new Map<string, Set<string>>();
  if (missing.length === 0) return deleted;
  const edits = await folder.handEdits(missing.map(({ known }) => known.path));
  for (const [path, changes] of edits) {
    const keys = changes.flatMap(({ before, after }) => {
      const left = keysOf(readOutline(after)?.joins);
      // A temporarily broken file has lost nothing.
      return readOutline(after) ? [...keysOf(readOutline(before)?.joins)].filter((key) => !left.has(key)) : [];
    });
    if (keys.length > 0) deleted.set(path, new Set(keys));
  }
  return deleted;
}

const keysOf = (joins: readonly JoinEntry[] | undefined): Set<string> => new Set(joins?.map(joinKey));
