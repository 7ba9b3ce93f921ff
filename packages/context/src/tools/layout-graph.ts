/** Size of a box; positions are upper left corners. */
export const BOX = { width: 190, height: 60 } as const;

const ACROSS = BOX.width + 90;
const DOWN = BOX.height + 32;
/** Longer columns are split. */
const TALLEST = 9;
const SWEEPS = 4;

interface Link {
  from: string;
  to: string;
}

interface Position {
  x: number;
  y: number;
}

/**
 * Layered layout: referencing tables left, referenced ones right, ordered to reduce crossings. Starts from the first
 * table; unconnected ones are placed below.
 */
export function layoutGraph(ids: readonly string[], links: readonly Link[]): Map<string, Position> {
  const places = new Map<string, Position>();
  const seen = new Set<string>();
  const alone: string[] = [];
  let top = 0;
  for (const id of ids) {
    if (seen.has(id)) continue;
    const layers = layersAround(id, links);
    for (const each of layers.keys()) seen.add(each);
    if (layers.size === 1) {
      alone.push(id);
      continue;
    }
    const columns = untangle(columnsOf(layers), links);
    const tallest = Math.max(...columns.map((column) => column.length));
    for (const [across, column] of columns.entries()) {
      const shift = ((tallest - column.length) * DOWN) / 2;
      for (const [down, each] of column.entries())
        places.set(each, { x: across * ACROSS, y: top + shift + down * DOWN });
    }
    top += tallest * DOWN + DOWN / 2;
  }
  const wide = Math.max(3, Math.ceil(Math.sqrt(alone.length)));
  for (const [at, id] of alone.entries()) {
    places.set(id, { x: (at % wide) * ACROSS, y: top + Math.floor(at / wide) * DOWN });
  }
  return places;
}

/** Signed distance of each table from the first, by the shortest path; negative to the left. */
function layersAround(start: string, links: readonly Link[]): Map<string, number> {
  const steps = new Map<string, [id: string, step: number][]>();
  const put = (from: string, to: string, step: number) =>
    void steps.set(from, [...(steps.get(from) ?? []), [to, step]]);
  for (const { from, to } of links) {
    put(from, to, 1);
    put(to, from, -1);
  }
  const layers = new Map([[start, 0]]);
  for (const [id, layer] of layers) {
    for (const [next, step] of steps.get(id) ?? []) if (!layers.has(next)) layers.set(next, layer + step);
  }
  return layers;
}

function columnsOf(layers: ReadonlyMap<string, number>): string[][] {
  const byLayer = [...Map.groupBy(layers.keys(), (id) => layers.get(id)!)].toSorted(([a], [b]) => a - b);
  return byLayer.flatMap(([, ids]) => {
    const parts = Math.ceil(ids.length / TALLEST);
    const size = Math.ceil(ids.length / parts);
    return Array.from({ length: parts }, (_, at) => ids.slice(at * size, (at + 1) * size));
  });
}

/** Moves each box toward its neighbours in other columns, in several sweeps. */
function untangle(columns: string[][], links: readonly Link[]): string[][] {
  const neighbours = new Map<string, string[]>();
  for (const { from, to } of links) {
    neighbours.set(from, [...(neighbours.get(from) ?? []), to]);
    neighbours.set(to, [...(neighbours.get(to) ?? []), from]);
  }
  const height = new Map<string, number>();
  const measure = (column: readonly string[]) => {
    for (const [at, id] of column.entries()) height.set(id, at - (column.length - 1) / 2);
  };
  for (const column of columns) measure(column);
  let current = columns;
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const order = sweep % 2 === 0 ? current : current.toReversed();
    const next = order.map((column) => {
      const own = new Set(column);
      const wanted = new Map(
        column.map((id) => [id, middle(neighbours.get(id) ?? [], own, height) ?? height.get(id)!]),
      );
      const sorted = column.toSorted((a, b) => wanted.get(a)! - wanted.get(b)!);
      measure(sorted);
      return sorted;
    });
    current = sweep % 2 === 0 ? next : next.toReversed();
  }
  return current;
}

function middle(ids: readonly string[], own: ReadonlySet<string>, height: ReadonlyMap<string, number>) {
  const others = ids.filter((id) => !own.has(id));
  return others.length === 0 ? undefined : others.reduce((sum, id) => sum + height.get(id)!, 0) / others.length;
}
