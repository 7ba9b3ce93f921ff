import { BaseEdge, type Edge, type EdgeProps } from "@xyflow/react";
import type { Graph } from "../context-api.ts";

export type JoinEdge = Edge<{ box: Graph["box"] }>;

/** Distance that an edge bows out of its column. The next column is farther away. */
const OUT = 56;
/** A loop must fit into the gap between two boxes of a column, with its label. */
const LOOP = { left: 18, width: 34, height: 26 };
const GAP = 16;
/** Width of a character of the monospaced label. */
const SIGN = 7.2;

/** An edge between two tables of one column: it bows out to the side, with its label next to the source. */
function BowEdge({ sourceX: x, sourceY: y, targetX, targetY, label, markerEnd, data }: EdgeProps<JoinEdge>) {
  const down = Math.sign(targetY - y);
  return (
    <BaseEdge
      path={`M ${x} ${y} C ${x + OUT} ${y} ${targetX + OUT} ${targetY} ${targetX} ${targetY}`}
      {...named(label, x - widthOf(label) / 2 - 4, y + down * (heightOf(data) / 2 + GAP))}
      {...marked(markerEnd)}
    />
  );
}

/** An edge from a table to itself: a loop on top of its box. */
function LoopEdge({ sourceX, sourceY, label, markerEnd, data }: EdgeProps<JoinEdge>) {
  const x = sourceX - (data?.box.width ?? 0) + LOOP.left;
  const y = sourceY - heightOf(data) / 2;
  const end = x + LOOP.width;
  return (
    <BaseEdge
      path={`M ${x} ${y} C ${x} ${y - LOOP.height} ${end} ${y - LOOP.height} ${end} ${y}`}
      {...named(label, end + 4 + widthOf(label) / 2, y - GAP)}
      {...marked(markerEnd)}
    />
  );
}

const heightOf = (data: JoinEdge["data"]): number => data?.box.height ?? 0;
const widthOf = (label: unknown): number => String(label).length * SIGN;
const named = (label: EdgeProps["label"], labelX: number, labelY: number) => ({ label, labelX, labelY });
const marked = (markerEnd: string | undefined) => (markerEnd === undefined ? {} : { markerEnd });

export const EDGE_TYPES = { bow: BowEdge, loop: LoopEdge };
