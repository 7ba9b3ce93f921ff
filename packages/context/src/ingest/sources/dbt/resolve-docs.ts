import type { DbtNode } from "./dbt-node.ts";

const DOC = /\{\{\s*doc\(\s*(?:['"][^'"]+['"]\s*,\s*)?['"](\w+)['"]\s*\)\s*\}\}/g;

/** Puts docs blocks where they are named: once each on the way down, so that blocks that name each other come to an end. */
function resolveDocs(text: string, docs: ReadonlyMap<string, string>, above: readonly string[] = []): string {
  return text.replaceAll(DOC, (reference, name: string) => {
    const block = docs.get(name);
    if (block === undefined || above.includes(name)) return block === undefined ? reference : "";
    return resolveDocs(block, docs, [...above, name]);
  });
}

/** Descriptions with their docs blocks, and the blocks that no description names. */
export function withDocs(
  nodes: readonly DbtNode[],
  docs: ReadonlyMap<string, string>,
): { nodes: DbtNode[]; loose: [string, string][] } {
  const descriptions = nodes.flatMap((node) => [node, ...node.columns].map(({ description }) => description));
  const named = [...docs.values(), ...descriptions].flatMap((text) => [...text.matchAll(DOC)].map(([, name]) => name!));
  const used = new Set(named);
  // A manifest has its descriptions resolved already.
  const whole = new Set(descriptions.map((text) => text.trim()));
  return {
    nodes: nodes.map((node) => ({
      ...node,
      description: resolveDocs(node.description, docs),
      columns: node.columns.map((column) => ({ ...column, description: resolveDocs(column.description, docs) })),
    })),
    loose: [...docs]
      .filter(([name, block]) => !used.has(name) && !whole.has(block.trim()))
      .map(([name, block]) => [name, resolveDocs(block, docs, [name])]),
  };
}
