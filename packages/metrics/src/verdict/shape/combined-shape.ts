import { fixedKey, hasTwins, NotJudged, type OutputColumn, type QueryShape } from "./query-shape.ts";

/** The shape of UNION, INTERSECT and EXCEPT. */
export function combinedShape(
  left: QueryShape,
  right: QueryShape,
  { isUnion, isAll }: { isUnion: boolean; isAll: boolean },
): QueryShape {
  if (left.outputs.length !== right.outputs.length) throw new NotJudged("It combines queries of different columns.");
  const outputs = left.outputs.map(({ name, repeats, sources, base, valueClass }, at): OutputColumn => {
    const other = right.outputs[at]!;
    const shared = [...(sources ?? [])].filter(
      (table) => isUnion && isAll && other.sources?.has(table) && !areDisjoint(left, right, table),
    );
    const found =
      repeats ??
      (isUnion ? other.repeats : undefined) ??
      (shared.length > 0 ? { label: `${shared.join(" and ")} in both parts of UNION ALL` } : undefined);
    const isSame = base !== undefined && base.table === other.base?.table && base.column === other.base.column;
    return {
      name,
      sources: new Set([...(sources ?? []), ...(other.sources ?? [])]),
      ...(found && { repeats: found }),
      ...(isSame ? { base } : valueClass !== undefined && valueClass === other.valueClass && { valueClass }),
    };
  });
  const unclear = left.unclear ?? right.unclear;
  return {
    outputs,
    keys: isAll || hasTwins(outputs) ? [] : [outputs.map(({ name }) => name)],
    ...(unclear !== undefined && { unclear }),
  };
}

/**
 * A column of the table has one literal value in one part, and another in the other. A column of a joined table does not
 * count: an order is in both parts if it has a first and a second line.
 */
const areDisjoint = ({ fixed: left }: QueryShape, { fixed: right }: QueryShape, table: string): boolean =>
  [...(left ?? [])].some(
    ([key, value]) =>
      key.startsWith(fixedKey(table, "")) && right?.has(key) === true && areDifferent(right.get(key)!, value),
  );

/** Whether two literals are different values for every type of column and every collation: 1 and 1.0 are not. */
function areDifferent(a: string, b: string): boolean {
  const [[typeA, left], [typeB, right]] = [parted(a), parted(b)];
  if (typeA !== typeB) return false;
  if (typeA === "number") return Math.abs(Number(left) - Number(right)) > 0;
  const isPlain = (text: string): boolean => text !== "" && !/^[\d\s.:+-]/.test(text);
  const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text);
  if (isDay(left) && isDay(right)) return left !== right;
  // Collations ignore case, accents and spaces at the end, and only letters: a text that is a number or a time has many forms.
  return isPlain(left) && isPlain(right) && folded(left) !== folded(right);
}

const parted = (literal: string): [string, string] => {
  const at = literal.indexOf(" ");
  return [literal.slice(0, at), literal.slice(at + 1)];
};

const folded = (text: string): string =>
  text
    .normalize("NFKD")
    .replaceAll(/[^\p{L}\p{N}]/gu, "")
    .toLowerCase();
