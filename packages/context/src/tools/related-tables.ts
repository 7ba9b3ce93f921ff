import type { TableOutline } from "../catalogue/table-outline.ts";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";

export interface RelatedTable {
  /** `table:connection/schema.table` */
  key: string;
  description: string;
  /** The tables of the hits that it joins to. */
  joinedTo: string[];
}

/**
 * Tables that join to the found ones, those between several first: a question names what it asks for, seldom the tables that
 * connect it.
 */
export async function relatedTables(
  catalogue: Pick<CatalogueReader, "outlines">,
  /** `connection/schema.table`, the best first. */
  found: readonly string[],
  limit: number,
  describe: (outline: TableOutline) => string,
): Promise<RelatedTable[]> {
  const ranks = new Map(found.map((id, rank) => [id, rank]));
  const related = new Map<string, { outline: TableOutline; joinedTo: Set<string> }>();
  for (const connection of new Set(found.map((id) => id.split("/", 1)[0]!))) {
    const outlines = new Map(
      (await catalogue.outlines(connection)).map((each) => [`${connection}/${each.schema}.${each.table}`, each]),
    );
    const add = (id: string, hit: string): void => {
      const outline = outlines.get(id);
      if (!outline || outline.gone || ranks.has(id) || !ranks.has(hit)) return;
      const entry = related.get(id) ?? { outline, joinedTo: new Set() };
      entry.joinedTo.add(hit);
      related.set(id, entry);
    };
    for (const [id, { joins = [] }] of outlines) {
      for (const { to } of joins) {
        add(id, `${connection}/${to}`);
        add(`${connection}/${to}`, id);
      }
    }
  }
  const score = (joinedTo: ReadonlySet<string>) =>
    [...joinedTo].reduce((sum, hit) => sum + 1 / (2 + ranks.get(hit)!), 0);
  return [...related]
    .toSorted(([, a], [, b]) => score(b.joinedTo) - score(a.joinedTo))
    .slice(0, limit)
    .map(([id, { outline, joinedTo }]) => ({
      key: `table:${id}`,
      description: describe(outline),
      joinedTo: [...joinedTo].map((hit) => `table:${hit}`),
    }));
}
