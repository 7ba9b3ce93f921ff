import type { ImportedEntity, ImportedLink } from "./imported-project.ts";
import { type ProjectReader, refuseOthers, required } from "./project-reader.ts";
import type { SourceNode } from "./source-node.ts";

const EQUALITY = /^\s*([\w."`]+)\s*=\s*([\w."`]+)\s*$/;

/** Joins of all sources, each from the side that refers. */
export function readJoins(
  sources: readonly { node: SourceNode; entity: ImportedEntity }[],
  reader: ProjectReader,
): { from: string; link: ImportedLink }[] {
  return sources.flatMap(({ node, entity }) =>
    node.get("joins").items.flatMap((join) => {
      const item = `join of ${entity.id} to ${join.textOf("to") ?? ""}`;
      return reader.attempt(join, item, () => readJoin(join, entity.id, item, reader)) ?? [];
    }),
  );
}

function readJoin(
  node: SourceNode,
  from: string,
  item: string,
  reader: ProjectReader,
): { from: string; link: ImportedLink }[] {
  refuseOthers(node, ["to", "on", "relationship", "alias"]);
  const to = required(node, "to");
  const alias = node.textOf("alias");
  const pairs = required(node, "on")
    .split(/\s+and\s+/i)
    .map((part) => pairOf(part, from, alias ?? to));
  const isBroken = pairs.includes(undefined);
  const known = pairs.filter((pair) => pair !== undefined);
  if (isBroken) {
    // KTX keeps the equalities of such a join and drops the rest, which multiplies rows.
    reader.leaveOut(node, item, "Its condition is more than equal columns, such as a range of validity.");
  }
  const name = alias ?? to;
  const refused = isBroken ? { refused: `The join to ${name} has a condition that is not a comparison of keys.` } : {};
  const isReverse = node.textOf("relationship") === "one_to_many";
  const own = { columns: known.map(([left]) => left), to, toColumns: known.map(([, right]) => right) };
  return [
    isReverse
      ? {
          from: to,
          link: { ...node.at, name: from, columns: own.toColumns, to: from, toColumns: own.columns, ...refused },
        }
      : { from, link: { ...node.at, name, ...own, ...refused } },
  ];
}

/** The column of this source and of the other one, in whichever order they are written. */
function pairOf(text: string, own: string, other: string): [string, string] | undefined {
  const [, left, right] = EQUALITY.exec(text) ?? [];
  if (left === undefined || right === undefined) return undefined;
  const split = (side: string): { table?: string; column: string } => {
    const parts = side.split(".").map((part) => part.replaceAll(/["`]/g, ""));
    return { ...(parts.length > 1 && { table: parts.at(-2)! }), column: parts.at(-1)! };
  };
  const [a, b] = [split(left), split(right)];
  if (/^\d/.test(a.column) || /^\d/.test(b.column)) return undefined;
  if (a.table === other && b.table !== other) return [b.column, a.column];
  const isOwn = a.table === undefined || a.table === own;
  return isOwn && b.table === other ? [a.column, b.column] : undefined;
}
