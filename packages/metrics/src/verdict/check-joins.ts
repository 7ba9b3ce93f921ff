import { type CataloguedJoin, tableText } from "../model/catalogued-table.ts";
import { type BaseColumn, type Equality, type Relation, sameName } from "./shape/query-shape.ts";
import type { SelectRelations, WrittenJoin } from "./shape/select-relations.ts";
import type { VerdictPart } from "./verdict.ts";

interface Pair {
  readonly mine: BaseColumn;
  readonly theirs: BaseColumn;
}

/** Joins that the catalogue does not know, use only a part of a composite key, or drop rows. */
export function checkJoins(scope: SelectRelations): VerdictPart[] {
  return scope.joins.flatMap((join) => checkJoin(join, scope));
}

function checkJoin(join: WrittenJoin, scope: SelectRelations): VerdictPart[] {
  const { relations } = scope;
  return join.added.flatMap((at): VerdictPart[] => {
    const relation = relations[at]!;
    // A single row can be joined without a condition.
    if (relation.keys.some((key) => key.length === 0)) return [];
    const others = new Map<number, Equality[]>();
    for (const equality of join.kind === "cross" ? scope.equalities : join.equalities) {
      const other = otherSide(equality, at);
      if (other !== undefined) others.set(other, [...(others.get(other) ?? []), equality]);
    }
    if (others.size === 0) {
      const message = `${relation.label} is joined without an equality of columns: each row meets every other.`;
      return [{ kind: "unknown_join", relation: relation.label, message }];
    }
    return [...others].flatMap(([other, equalities]) =>
      checkPairs(relation, relations[other]!, pairsOf(equalities, at, relations), scope, join),
    );
  });
}

const otherSide = ({ left, right }: Equality, at: number): number | undefined => {
  if (!right) return undefined;
  if (left.relation === at && right.relation !== at) return right.relation;
  return right.relation === at && left.relation !== at ? left.relation : undefined;
};

/** Undefined if a column is computed: it cannot be compared with the catalogue. */
function pairsOf(equalities: readonly Equality[], at: number, relations: readonly Relation[]): Pair[] | undefined {
  const baseOf = ({ relation, column }: { relation: number; column: string }) =>
    relations[relation]!.outputs.find((output) => sameName(output.name, column))?.base;
  const pairs = equalities.map(({ left, right }) => {
    const [mine, theirs] = left.relation === at ? [left, right!] : [right!, left];
    return { mine: baseOf(mine), theirs: baseOf(theirs) };
  });
  return pairs.every((pair): pair is Pair => pair.mine !== undefined && pair.theirs !== undefined) ? pairs : undefined;
}

function checkPairs(
  relation: Relation,
  other: Relation,
  pairs: Pair[] | undefined,
  scope: SelectRelations,
  written: WrittenJoin,
): VerdictPart[] {
  const between = `${relation.label} and ${other.label}`;
  if (!pairs)
    return [{ kind: "unknown_join", relation: relation.label, message: `${between} are joined by a computed column.` }];
  const [{ mine, theirs }] = pairs as [Pair];
  const forward = joinsBetween(mine, theirs);
  const backward = joinsBetween(theirs, mine);
  const turned = pairs.map((pair): Pair => ({ mine: pair.theirs, theirs: pair.mine }));
  const complete = [
    ...forward.filter((join) => covers(join, pairs)).map((join) => ({ join, refers: relation, to: other })),
    ...backward.filter((join) => covers(join, turned)).map((join) => ({ join, refers: other, to: relation })),
  ];
  const found = complete[0];
  if (found) return [...missingDiscriminator(found.join, scope, between), ...dropped(found, scope, written)];
  if (isSharedReference(pairs) || isSameKey(pairs)) return [];
  const partial = [
    ...forward.filter((join) => isPartOf(join, pairs)),
    ...backward.filter((join) => isPartOf(join, turned)),
  ][0];
  if (partial) {
    const needed = partial.columns.join(", ");
    return [
      {
        kind: "wrong_grain",
        relation: relation.label,
        message: `The join of ${between} needs all of (${needed}), and uses a part.`,
      },
    ];
  }
  const columns = pairs.map((pair) => `${pair.mine.column} = ${pair.theirs.column}`).join(" and ");
  return [
    {
      kind: "unknown_join",
      relation: relation.label,
      message: `The catalogue has no join of ${between} by ${columns}.`,
    },
  ];
}

const joinsBetween = (from: BaseColumn, to: BaseColumn): readonly CataloguedJoin[] =>
  from.table.joins.filter((join) => tableText(join.to) === tableText(to.table));

const hasPair = (pairs: readonly Pair[], from: string, to: string): boolean =>
  pairs.some((pair) => sameName(pair.mine.column, from) && sameName(pair.theirs.column, to));

const covers = (join: CataloguedJoin, pairs: readonly Pair[]): boolean =>
  join.columns.every((column, at) => hasPair(pairs, column, join.toColumns[at]!));

const isPartOf = (join: CataloguedJoin, pairs: readonly Pair[]): boolean =>
  join.columns.some((column, at) => hasPair(pairs, column, join.toColumns[at]!));

/** Both columns refer to the same column of a third table. */
const isSharedReference = (pairs: readonly Pair[]): boolean =>
  pairs.every(({ mine, theirs }) => targetsOf(mine).some((target) => targetsOf(theirs).includes(target)));

/** Two uses of one table, by the same columns. */
const isSameKey = (pairs: readonly Pair[]): boolean =>
  pairs.every(({ mine, theirs }) => mine.table === theirs.table && sameName(mine.column, theirs.column));

const targetsOf = ({ table, column }: BaseColumn): string[] => [
  `${tableText(table)}.${column}`,
  ...table.joins.flatMap((join) => {
    const at = join.columns.findIndex((name) => sameName(name, column));
    return at < 0 ? [] : [`${tableText(join.to)}.${join.toColumns[at]}`];
  }),
];

/** A polymorphic reference applies to some rows only. */
function missingDiscriminator(
  { when }: CataloguedJoin,
  { equalities }: SelectRelations,
  between: string,
): VerdictPart[] {
  if (!when) return [];
  const isThere = equalities.some(({ left, right }) => right === undefined && sameName(left.column, when.column));
  if (isThere) return [];
  return [
    { kind: "unknown_join", message: `The join of ${between} needs the condition ${when.column} = '${when.equals}'.` },
  ];
}

/** An inner join drops the rows whose reference leads nowhere, unless a filter on the other table wants that. */
function dropped(
  { join, refers, to }: { join: CataloguedJoin; refers: Relation; to: Relation },
  scope: SelectRelations,
  written: WrittenJoin,
): VerdictPart[] {
  const isInner = written.kind === "inner" || written.kind === "cross";
  const isFiltered = scope.filtered.has(scope.relations.indexOf(to));
  if (!isInner || isFiltered || !join.hasUnmatched) return [];
  return [
    {
      kind: "lossy",
      relation: refers.label,
      message: `Some rows of ${refers.label} have no row of ${to.label}, and the inner join drops them. Use LEFT JOIN to keep them.`,
    },
  ];
}
