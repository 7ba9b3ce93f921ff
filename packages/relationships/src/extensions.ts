import type { Candidate } from "./candidates.ts";
import { kindFit, type TableFacts } from "./table-facts.ts";
import type { Key } from "./table-keys.ts";
import { density } from "./value-evidence.ts";
import type { Vocabulary } from "./vocabulary.ts";

/**
 * user_profile.id for user.id: a table that shares its key with another whose name its own begins with. Only where the
 * key's values prove something: with keys that count from 1, order_status would be taken for an extension of orders.
 */
export function extensionCandidates(
  tables: readonly TableFacts[],
  keys: ReadonlyMap<TableFacts, readonly Key[]>,
  vocabulary: Vocabulary,
): Candidate[] {
  const single = (table: TableFacts) => keys.get(table)?.find((key) => key.primary && key.columns.length === 1);
  return tables.flatMap((table) => {
    const own = single(table);
    const from = own?.columns[0];
    if (!from || !table.rows || vocabulary.read(from).some(({ entity }) => entity.length > 0)) return [];
    return tables.flatMap((other): Candidate[] => {
      const key = other === table ? undefined : single(other);
      const to = key?.columns[0];
      if (!key || !to || kindFit(from, to) < 1 || (other.rows ?? 0) < table.rows!) return [];
      if (to.kind === "integer" && density(to) > 0.5) return [];
      const extended = vocabulary
        .entitiesOf(other)
        .some(({ words }) =>
          vocabulary
            .entitiesOf(table)
            .some(
              (mine) =>
                mine.words.length > words.length &&
                words.every((word, i) => vocabulary.likeness(mine.words[i]!, word) >= 0.96),
            ),
        );
      const name = { score: 0.6, says: "is the other's too, and so is the beginning of its table's name", role: [] };
      return extended ? [{ from, key, to, name }] : [];
    });
  });
}
