import { join } from "node:path";
import { TandemError } from "@tandem/protocol";
import { decodeText } from "../decode-text.ts";
import { type SourceEntry, textItem } from "../source.ts";
import { type FileRules, isWanted, walkFiles } from "../walk-files.ts";
import { manifest, readManifest } from "./read-manifest.ts";
import { type ProjectFile, readProjectFiles } from "./read-project-files.ts";
import { renderDbtNode } from "./render-dbt-node.ts";
import type { DbtNode } from "./dbt-node.ts";

const MANIFEST = "target/manifest.json";
const NO_MODELS = /(^|\/)(macros|tests|analyses|analysis)\//;
/** Folders that dbt generates or downloads. */
const NOT_OURS = ["target/", "dbt_packages/", "dbt_modules/", "logs/"];

/**
 * A dbt project: one item per model, seed, snapshot, source, exposure and metric, and per unused docs block. Prefers
 * the manifest; without one it reads the files and lists that.
 */
export async function* listDbtProject(
  folder: string,
  rules: FileRules,
  signal?: AbortSignal,
): AsyncGenerator<SourceEntry> {
  const compiled = await readCompiled(folder, rules);
  let project: { nodes: DbtNode[]; docs: Map<string, string> };
  if ("error" in compiled) {
    yield {
      type: "skipped",
      path: MANIFEST,
      error: compiled.error,
      hides: compiled.error.code === "no_manifest" ? MANIFEST : "",
    };
    const found: ProjectFile[] = [];
    for await (const entry of projectFiles(folder, rules, signal)) {
      if ("text" in entry) found.push(entry);
      else yield entry;
    }
    const files = readProjectFiles(found);
    for (const { path, error } of files.broken) yield { type: "skipped", path, error, hides: "" };
    project = files;
  } else project = compiled;

  const { nodes, loose } = withDocs(project.nodes, project.docs);
  const items = [
    ...nodes.map((node) => ({ path: node.path, title: `${node.name} (dbt ${node.kind})`, text: renderDbtNode(node) })),
    ...loose.map(([name, text]) => ({ path: `docs/${name}`, title: name, text: `# ${name}\n\n${text}\n` })),
  ];
  const seen = new Set<string>();
  for (const { path, title, text } of items) {
    if (seen.has(path) || !isWanted(path, rules)) continue;
    seen.add(path);
    yield textItem(path, title, text);
  }
}

async function readCompiled(
  folder: string,
  rules: FileRules,
): Promise<{ nodes: DbtNode[]; docs: Map<string, string> } | { error: TandemError }> {
  try {
    const anything = { ...rules, include: undefined, exclude: undefined, reads: () => true };
    const { value: entry } = await walkFiles(join(folder, MANIFEST), anything).next();
    if (entry?.type === "skipped") return { error: entry.error };
    if (entry?.type !== "item") return { error: noManifest(folder) };
    const text = decodeText(await entry.item.read(), MANIFEST);
    return readManifest(manifest.parse(JSON.parse(text)));
  } catch (cause) {
    if (cause instanceof TandemError && cause.code === "source_missing") return { error: noManifest(folder) };
    if (cause instanceof TandemError) return { error: cause };
    return {
      error: new TandemError("broken", `${MANIFEST} is not a manifest of dbt; the project's files are read instead.`, {
        fix: "Run `dbt parse` in the project.",
        cause,
      }),
    };
  }
}

const noManifest = (folder: string): TandemError =>
  new TandemError("no_manifest", `The dbt project ${folder} has no ${MANIFEST}; its files are read instead.`, {
    fix: "Run `dbt parse` in the project: a manifest also knows types, tables and what macros make.",
  });

async function* projectFiles(
  folder: string,
  rules: FileRules,
  signal: AbortSignal | undefined,
): AsyncGenerator<ProjectFile | SourceEntry> {
  const reads = (path: string) => /\.(ya?ml|md)$/.test(path) || (path.endsWith(".sql") && !NO_MODELS.test(path));
  // Read all files first, because one may describe another's models; filter the items afterwards.
  for await (const entry of walkFiles(folder, { ...rules, include: undefined, exclude: NOT_OURS, reads }, signal)) {
    if (entry.type === "skipped") yield entry;
    if (entry.type !== "item") continue;
    const { path } = entry.item;
    try {
      yield { path, text: decodeText(await entry.item.read(), path) };
    } catch (error) {
      if (!(error instanceof TandemError)) throw error;
      yield { type: "skipped", path, error, hides: "" };
    }
  }
}

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
function withDocs(
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
