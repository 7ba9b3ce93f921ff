/** Levels of merging; three suffice for thousands of tables. */
const LEVELS = 5;
const ROUNDS = 20;

type Weights = readonly ReadonlyMap<number, number>[];

/**
 * Communities of a graph by the Louvain method: nodes move to the neighbours' community while that raises the
 * modularity, then communities become nodes. Nodes are visited in order, so that the result is deterministic. Returns
 * the community of each node.
 */
export function findCommunities(size: number, edges: readonly (readonly [number, number])[]): number[] {
  let weights: Map<number, number>[] = Array.from({ length: size }, () => new Map<number, number>());
  for (const [a, b] of edges) {
    if (a === b) continue;
    weights[a]!.set(b, (weights[a]!.get(b) ?? 0) + 1);
    weights[b]!.set(a, (weights[b]!.get(a) ?? 0) + 1);
  }
  let of = Array.from({ length: size }, (_, at) => at);
  for (let level = 0; level < LEVELS; level += 1) {
    const label = moveNodes(weights);
    const names = new Map([...new Set(label)].map((name, at) => [name, at]));
    if (names.size === weights.length) break;
    of = of.map((node) => names.get(label[node]!)!);
    const merged: Map<number, number>[] = Array.from({ length: names.size }, () => new Map<number, number>());
    weights.forEach((own, node) => {
      const from = names.get(label[node]!)!;
      for (const [other, weight] of own) {
        const to = names.get(label[other]!)!;
        merged[from]!.set(to, (merged[from]!.get(to) ?? 0) + weight);
      }
    });
    weights = merged;
  }
  return of;
}

function moveNodes(weights: Weights): number[] {
  const degree = weights.map((own) => [...own.values()].reduce((sum, weight) => sum + weight, 0));
  const total = degree.reduce((sum, value) => sum + value, 0) || 1;
  const label = weights.map((_, at) => at);
  const inside = [...degree];
  for (let round = 0; round < ROUNDS; round += 1) {
    let isChanged = false;
    for (const [node, own] of weights.entries()) {
      const links = new Map<number, number>();
      for (const [other, weight] of own) {
        if (other !== node) links.set(label[other]!, (links.get(label[other]!) ?? 0) + weight);
      }
      const from = label[node]!;
      inside[from]! -= degree[node]!;
      const gain = (to: number): number => (links.get(to) ?? 0) - (inside[to]! * degree[node]!) / total;
      let best = from;
      for (const to of links.keys()) if (gain(to) > gain(best) + 1e-9) best = to;
      inside[best]! += degree[node]!;
      if (best === from) continue;
      label[node] = best;
      isChanged = true;
    }
    if (!isChanged) break;
  }
  return label;
}
