import type { ContextHit } from "../search/context-search.ts";

export interface HitGroup extends ContextHit {
  /** Further hits in the same table or document. */
  also: ContextHit[];
}

/** How many further hits of a table or document are shown. */
const FURTHER = 3;

/** One group per page, memory, table and document, in the order of their best hits. */
export function groupHits(hits: readonly ContextHit[], limit: number): HitGroup[] {
  const groups = new Map<string, HitGroup>();
  for (const hit of hits) {
    const subject = subjectOf(hit);
    const group = groups.get(subject);
    if (!group) groups.set(subject, { ...hit, also: [] });
    else if (group.also.length < FURTHER) group.also.push(hit);
  }
  return [...groups.values()].slice(0, limit);
}

/** The tables among the groups, as `connection/schema.table`. */
export const tablesIn = (groups: readonly ContextHit[]): string[] =>
  groups
    .map(subjectOf)
    .filter((subject) => subject.startsWith("table:"))
    .map((subject) => subject.slice("table:".length));

/** `column:shop/main.orders.status` and `value:shop/main.orders.status` belong to the table `shop/main.orders`. */
function subjectOf({ key, kind, title }: ContextHit): string {
  const name = key.slice(`${kind}:`.length);
  if (kind === "chunk") return `chunk:${name.split("#", 1)[0]}`;
  if (kind === "table") return `table:${name}`;
  if (kind !== "column" && kind !== "value") return key;
  // The title is `table.column`, either of which may contain dots; the key ends with it.
  const table = name.slice(0, name.length - title.length);
  return `table:${table}${tableOf(title)}`;
}

const tableOf = (title: string): string => title.slice(0, Math.max(0, title.lastIndexOf(".")));
