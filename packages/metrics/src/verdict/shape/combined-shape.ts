import { hasTwins, NotJudged, type OutputColumn, type QueryShape } from "./query-shape.ts";

/** The shape of UNION, INTERSECT and EXCEPT. */
export function combinedShape(
  left: QueryShape,
  right: QueryShape,
  { isUnion, isAll }: { isUnion: boolean; isAll: boolean },
): QueryShape {
  if (left.outputs.length !== right.outputs.length) throw new NotJudged("It combines queries of different columns.");
  const canOverlap = isUnion && isAll && !areDisjoint(left, right);
  const outputs = left.outputs.map(({ name, repeats, sources, base, valueClass }, at): OutputColumn => {
    const other = right.outputs[at]!;
    const shared = [...(sources ?? [])].filter((table) => other.sources?.has(table));
    const found =
      repeats ??
      (isUnion ? other.repeats : undefined) ??
      (canOverlap && shared.length > 0 ? { label: `${shared.join(" and ")} in both parts of UNION ALL` } : undefined);
    const isSame = base !== undefined && base.table === other.base?.table && base.column === other.base.column;
    return {
      name,
      sources: new Set([...(sources ?? []), ...(other.sources ?? [])]),
      ...(found && { repeats: found }),
      ...(isSame ? { base } : valueClass !== undefined && valueClass === other.valueClass && { valueClass }),
    };
  });
  return { outputs, keys: isAll || hasTwins(outputs) ? [] : [outputs.map(({ name }) => name)] };
}

/** A stored column has one literal value in one part, and another in the other. */
const areDisjoint = ({ fixed: left }: QueryShape, { fixed: right }: QueryShape): boolean =>
  [...(left ?? [])].some(([column, value]) => right?.has(column) === true && right.get(column) !== value);
