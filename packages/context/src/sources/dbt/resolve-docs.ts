import type { DbtNode } from "./dbt-node.ts";

const DOC = /\{\{\s*doc\(\s*(?:['"][^'"]+['"]\s*,\s*)?['"](\w+)['"]\s*\)\s*\}\}/g;

/** Inlines docs blocks, each once per path, so that circular references terminate. */
function resolveDocs(text: string, docs: ReadonlyMap<string, string>, above: readonly string[] = []): string {
  return text.replaceAll(DOC, (reference, name: string) => {
    const block = docs.get(name);
    if (block === undefined || above.includes(name)) return block === undefined ? reference : "";
    return resolveDocs(block, docs, [...above, name]);
  });
}

/** Descriptions with inlined docs blocks, and the unused blocks. */
export function withDocs(
  nodes: readonly DbtNode[],
  docs: ReadonlyMap<string, string>,
): { nodes: DbtNode[]; loose: [string, string][] } {
  const descriptions = nodes.flatMap((node) => [node, ...node.columns].map(({ description }) => description));
  const named = [...docs.values(), ...descriptions].flatMap((text) => [...text.matchAll(DOC)].map(([, name]) => name!));
  const used = new Set(named);
  // A manifest's descriptions are already resolved.
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
