import { type ColumnUse, type Equality, type Relation, sameName } from "./query-shape.ts";

/**
 * The relations of which a row of the given ones meets at most one row: those with a key whose columns are all equal to
 * constants or to columns of relations that are determined already.
 */
export function determinedBy(
  start: readonly number[],
  relations: readonly Relation[],
  equalities: readonly Equality[],
): Set<number> {
  const determined = new Set(start);
  for (let before = -1; before !== determined.size;) {
    before = determined.size;
    relations.forEach(({ keys }, at) => {
      if (!determined.has(at) && keys.some((key) => key.every((column) => isFixed({ relation: at, column }))))
        determined.add(at);
    });
  }
  return determined;

  function isFixed(wanted: ColumnUse): boolean {
    return equalities.some(({ left, right }) => {
      if (isSame(left, wanted)) return right === undefined || determined.has(right.relation);
      return right !== undefined && isSame(right, wanted) && determined.has(left.relation);
    });
  }
}

/** Relations of which one row fixes the rows of all others: none of them can appear twice in the result. */
export const grainsOf = (relations: readonly Relation[], equalities: readonly Equality[]): number[] =>
  relations.flatMap((_, at) => (determinedBy([at], relations, equalities).size === relations.length ? [at] : []));

const isSame = (a: ColumnUse, b: ColumnUse): boolean => a.relation === b.relation && sameName(a.column, b.column);
