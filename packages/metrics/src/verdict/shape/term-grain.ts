import { determinedBy } from "./determined.ts";
import type { SelectRelations } from "./select-relations.ts";
import { withoutConditions } from "../tree/value-terms.ts";

/** The relations whose columns make up a value. */
export const usedBy = (term: unknown, scope: SelectRelations): number[] => [
  ...new Set(scope.columnsIn(withoutConditions(term)).map(({ relation }) => relation)),
];

/** The relation of which a row fixes those of the others. Undefined if there is none. */
export const finestOf = (used: readonly number[], { relations, equalities }: SelectRelations): number | undefined =>
  used.find((relation) => {
    const fixed = determinedBy([relation], relations, equalities);
    return used.every((other) => fixed.has(other));
  });
