import { type Exactness, sharedJoin, type SharedJoin } from "../catalogue/table-file.ts";
import type { TableOutline } from "../catalogue/table-outline.ts";
import { described } from "../search/documents.ts";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import { layoutGraph } from "./layout-graph.ts";

interface GraphNode {
  /** `connection/schema.table`. */
  id: string;
  connection: string;
  schema: string;
  table: string;
  type: TableOutline["type"];
  description: string;
  rows: number | null;
  rowsAre?: Exactness;
  /** Steps from the start. */
  distance: number;
  /** Upper left corner of its box of size `BOX`. */
  x: number;
  y: number;
}

interface GraphEdge extends SharedJoin {
  from: string;
  to: string;
}

export interface TableGraph {
  nodes: GraphNode[];
  /** Only between these nodes. */
  edges: GraphEdge[];
  /** There are more tables than requested. */
  truncated: boolean;
}

/** The layout of more takes seconds. A page that shows more arranges them itself. */
const MAX_PLACED = 500;

/** Tables within `depth` joins of one, or all of a connection, most connected first; at most `limit`. */
export async function tableGraph(
  catalogue: CatalogueReader,
  wanted: { table?: string; connection?: string; depth: number; limit: number; layout?: "layers" | "none" },
): Promise<TableGraph> {
  const { table, depth, layout = "layers" } = wanted;
  const limit = layout === "layers" ? Math.min(wanted.limit, MAX_PLACED) : wanted.limit;
  const start = table === undefined ? undefined : await catalogue.find(table, wanted.connection);
  const named = start?.connection ?? wanted.connection;
  const connections = named === undefined ? await catalogue.connections() : [named];
  const files = (await Promise.all(connections.map((name) => catalogue.outlines(name)))).flat();
  const byId = new Map(files.map((file) => [idOf(file), file]));
  const edges = files.flatMap(edgesOf).filter(({ to }) => byId.has(to));
  const distances = start ? around(idOf(start), edges, depth) : new Map(mostJoined(byId, edges).map((id) => [id, 0]));
  const kept = [...distances].slice(0, limit);
  const ids = new Set(kept.map(([id]) => id));
  const shown = edges.filter(({ from, to }) => ids.has(from) && ids.has(to));
  const places = layout === "none" ? undefined : layoutGraph([...ids], shown);
  return {
    nodes: kept.map(([id, distance]) => ({
      ...nodeOf(id, byId.get(id)!, distance),
      ...(places?.get(id) ?? { x: 0, y: 0 }),
    })),
    edges: shown,
    truncated: distances.size > kept.length,
  };
}

/** Nearest first. */
function around(start: string, edges: readonly GraphEdge[], depth: number): Map<string, number> {
  const neighbours = new Map<string, string[]>();
  const link = (a: string, b: string) => void neighbours.set(a, [...(neighbours.get(a) ?? []), b]);
  for (const { from, to } of edges) {
    link(from, to);
    link(to, from);
  }
  const distances = new Map([[start, 0]]);
  for (const [id, distance] of distances) {
    if (distance === depth) continue;
    for (const next of neighbours.get(id) ?? []) if (!distances.has(next)) distances.set(next, distance + 1);
  }
  return distances;
}

function mostJoined(byId: ReadonlyMap<string, TableOutline>, edges: readonly GraphEdge[]): string[] {
  const counts = new Map<string, number>();
  for (const id of edges.flatMap(({ from, to }) => [from, to])) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...byId.keys()].toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
}

const idOf = ({ connection, schema, table }: Pick<TableOutline, "connection" | "schema" | "table">): string =>
  `${connection}/${schema}.${table}`;

const edgesOf = (file: TableOutline): GraphEdge[] =>
  (file.joins ?? []).map((join) => ({ ...sharedJoin(join), from: idOf(file), to: `${file.connection}/${join.to}` }));

const nodeOf = (id: string, file: TableOutline, distance: number): Omit<GraphNode, "x" | "y"> => {
  const { connection, schema, table, type, rows = null, rowsAre } = file;
  const exactness = rowsAre && { rowsAre };
  return {
    id,
    connection,
    schema,
    table,
    type,
    description: described(file.descriptions),
    rows,
    ...exactness,
    distance,
  };
};
