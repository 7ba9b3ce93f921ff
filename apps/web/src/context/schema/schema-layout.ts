import { findCommunities } from "./find-communities.ts";

export interface SchemaNode {
  id: string;
  /** `connection › schema`. */
  place: string;
}

export interface SchemaLink {
  from: string;
  to: string;
}

interface SchemaCluster {
  label: string;
  x: number;
  y: number;
  radius: number;
  size: number;
}

export interface SchemaLayout {
  /** Centres, in the order of the nodes. */
  x: number[];
  y: number[];
  /** Index into `clusters`, in the order of the nodes. */
  cluster: number[];
  clusters: SchemaCluster[];
}

export type ClusterBy = "joins" | "schema";

/** Distance between neighbouring tables; a drawn table is narrower. */
const STEP = 150;
const ROUNDS = 120;
const GOLDEN = Math.PI * (3 - Math.sqrt(5));
/** Clusters of fewer tables are put together, so that the picture does not fall apart. */
const SMALL = 3;

/** Places the tables of a schema. The same input gives the same picture. Takes time: call it in a worker. */
export function layoutSchema(nodes: readonly SchemaNode[], links: readonly SchemaLink[], by: ClusterBy): SchemaLayout {
  const order = new Map(nodes.map(({ id }, at) => [id, at]));
  const edges = links.flatMap(({ from, to }): [number, number][] => {
    const [a, b] = [order.get(from), order.get(to)];
    return a === undefined || b === undefined || a === b ? [] : [[a, b]];
  });
  const neighbours: number[][] = nodes.map(() => []);
  for (const [a, b] of edges) {
    neighbours[a]!.push(b);
    neighbours[b]!.push(a);
  }
  const groups = by === "schema" ? bySchema(nodes) : byJoins(nodes, edges, neighbours);
  const x = nodes.map(() => 0);
  const y = nodes.map(() => 0);
  const cluster = nodes.map(() => 0);
  const clusters: SchemaCluster[] = [];
  for (const { label, members } of groups) {
    const places = placeMembers(members, neighbours);
    const radius = Math.max(...places.map(([px, py]) => Math.hypot(px, py))) + STEP * 0.6;
    const at = findPlace(clusters, radius);
    clusters.push({ label, ...at, radius, size: members.length });
    members.forEach((member, index) => {
      x[member] = at.x + places[index]![0];
      y[member] = at.y + places[index]![1];
      cluster[member] = clusters.length - 1;
    });
  }
  return { x, y, cluster, clusters };
}

interface Group {
  label: string;
  members: number[];
}

const largestFirst = (groups: Group[]): Group[] =>
  groups.sort((a, b) => b.members.length - a.members.length || a.members[0]! - b.members[0]!);

function bySchema(nodes: readonly SchemaNode[]): Group[] {
  const groups = Map.groupBy(nodes.keys(), (at) => nodes[at]!.place);
  return largestFirst([...groups].map(([label, members]) => ({ label, members: [...members] })));
}

function byJoins(
  nodes: readonly SchemaNode[],
  edges: readonly (readonly [number, number])[],
  neighbours: readonly number[][],
): Group[] {
  const community = findCommunities(nodes.length, edges);
  const found = [...Map.groupBy(nodes.keys(), (at) => community[at]!).values()].map((members) => [...members]);
  const groups: Group[] = found
    .filter((members) => members.length >= SMALL)
    .map((members) => ({ label: `around ${shortName(nodes[hubOf(members, neighbours)]!)}`, members }));
  const rest = found.filter((members) => members.length < SMALL).flat();
  const joined = rest.filter((at) => neighbours[at]!.length > 0);
  const alone = rest.filter((at) => neighbours[at]!.length === 0);
  const ordered = largestFirst(groups);
  if (joined.length > 0) ordered.push({ label: "small groups", members: joined });
  if (alone.length > 0) ordered.push({ label: "without joins", members: alone });
  return ordered;
}

const hubOf = (members: readonly number[], neighbours: readonly number[][]): number =>
  members.reduce((best, at) => (neighbours[at]!.length > neighbours[best]!.length ? at : best));

const shortName = ({ id }: SchemaNode): string => id.split("/").at(-1)!.split(".").at(-1)!;

/** Places around the origin: joined tables attract each other, and all of them keep a distance. */
function placeMembers(members: readonly number[], neighbours: readonly number[][]): [x: number, y: number][] {
  const index = new Map(members.map((member, at) => [member, at]));
  const inside = members.map((member) => neighbours[member]!.flatMap((other) => index.get(other) ?? []));
  // Hubs start in the middle of a spiral.
  const rank = members.map((_, at) => at).sort((a, b) => inside[b]!.length - inside[a]!.length || a - b);
  const px = members.map(() => 0);
  const py = members.map(() => 0);
  rank.forEach((at, place) => {
    const distance = STEP * 0.75 * Math.sqrt(place);
    px[at] = distance * Math.cos(place * GOLDEN);
    py[at] = distance * Math.sin(place * GOLDEN);
  });
  if (inside.every((own) => own.length === 0)) return members.map((_, at) => [px[at]!, py[at]!]);
  for (let round = 0; round < ROUNDS; round += 1) {
    const most = STEP * 0.5 * (1 - round / ROUNDS) + 1;
    const [fx, fy] = forcesOn(px, py, inside);
    for (let at = 0; at < px.length; at += 1) {
      const force = Math.hypot(fx[at]!, fy[at]!);
      if (force === 0) continue;
      const move = Math.min(force, most) / force;
      px[at]! += fx[at]! * move;
      py[at]! += fy[at]! * move;
    }
  }
  const [cx, cy] = [mean(px), mean(py)];
  return members.map((_, at) => [px[at]! - cx, py[at]! - cy]);
}

function forcesOn(px: readonly number[], py: readonly number[], inside: readonly number[][]): [number[], number[]] {
  const fx = px.map(() => 0);
  const fy = py.map(() => 0);
  const near = STEP * 3;
  for (let a = 0; a < px.length; a += 1) {
    for (let b = a + 1; b < px.length; b += 1) {
      const dx = px[a]! - px[b]! || (a - b) * 0.01;
      const dy = py[a]! - py[b]!;
      const square = dx * dx + dy * dy;
      if (square > near * near) continue;
      const push = (STEP * STEP) / Math.max(square, 1);
      fx[a]! += dx * push;
      fy[a]! += dy * push;
      fx[b]! -= dx * push;
      fy[b]! -= dy * push;
    }
  }
  for (let a = 0; a < px.length; a += 1) {
    for (const b of inside[a]!) {
      const dx = px[b]! - px[a]!;
      const dy = py[b]! - py[a]!;
      const pull = Math.hypot(dx, dy) / STEP / 2;
      fx[a]! += dx * pull;
      fy[a]! += dy * pull;
    }
    // A weak pull to the middle keeps the parts of a cluster together.
    fx[a]! -= px[a]! * 0.02;
    fy[a]! -= py[a]! * 0.02;
  }
  return [fx, fy];
}

/** The free place on a spiral that is nearest to the middle. */
function findPlace(clusters: readonly SchemaCluster[], radius: number): { x: number; y: number } {
  for (let turn = 0; ; turn += 1) {
    const distance = STEP * 0.5 * Math.sqrt(turn);
    const [x, y] = [distance * Math.cos(turn * GOLDEN) * 1.4, distance * Math.sin(turn * GOLDEN)];
    const isFree = clusters.every(
      (other) => Math.hypot(x - other.x, y - other.y) >= radius + other.radius + STEP * 0.3,
    );
    if (isFree) return { x, y };
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
