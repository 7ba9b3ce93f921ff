import { z } from "zod";
import type { DbtColumn, DbtNode } from "./dbt-node.ts";
import { addDbtTest, type DbtTests } from "./read-dbt-tests.ts";

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? "");
const column = z.object({ name: z.string(), description: text, data_type: text });
const dependsOn = z.object({ nodes: z.array(z.string()).default([]) }).prefault({});

const node = z.object({
  resource_type: z.string(),
  name: z.string(),
  unique_id: z.string(),
  package_name: text,
  original_file_path: z.string(),
  description: text,
  columns: z.record(z.string(), column).default({}),
  relation_name: z.string().nullish(),
  depends_on: dependsOn,
  tags: z.array(z.string()).default([]),
  raw_code: z.string().nullish(),
  /** Before dbt 1.3. */
  raw_sql: z.string().nullish(),
  test_metadata: z.object({ name: z.string(), kwargs: z.record(z.string(), z.unknown()).default({}) }).nullish(),
  attached_node: z.string().nullish(),
  column_name: z.string().nullish(),
});

const source = node.extend({ source_name: z.string() });
const exposure = z.object({
  name: z.string(),
  label: text,
  type: text,
  description: text,
  url: text,
  owner: z.object({ name: text, email: text }).prefault({}),
  depends_on: dependsOn,
  tags: z.array(z.string()).default([]),
});
const metric = exposure.pick({ name: true, label: true, type: true, description: true, depends_on: true, tags: true });
const doc = z.object({ name: z.string(), package_name: text, block_contents: z.string() });

/** The parts of `target/manifest.json` that are used; other fields are ignored. */
export const manifest = z.object({
  metadata: z.object({ project_name: z.string().nullish() }).prefault({}),
  nodes: z.record(z.string(), node),
  sources: z.record(z.string(), source).default({}),
  exposures: z.record(z.string(), exposure).default({}),
  metrics: z.record(z.string(), metric).default({}),
  docs: z.record(z.string(), doc).default({}),
});
type Manifest = z.output<typeof manifest>;

const KINDS = ["model", "seed", "snapshot"] as const;

export function readManifest(file: Manifest): { nodes: DbtNode[]; docs: Map<string, string> } {
  const tests = testsByNode(file);
  const nameOf = (id: string): string => {
    const from = file.sources[id];
    return from ? `${from.source_name}.${from.name}` : (file.nodes[id]?.name ?? id.split(".").at(-1)!);
  };
  const project = file.metadata.project_name;
  const built = Object.values(file.nodes).flatMap((entry): DbtNode[] => {
    const kind = KINDS.find((each) => each === entry.resource_type);
    // Nodes of packages belong to their own projects.
    if (!kind || (project && entry.package_name && entry.package_name !== project)) return [];
    const { name, original_file_path: path } = entry;
    return [{ ...common(entry, tests), kind, name, path, dependsOn: entry.depends_on.nodes.map(nameOf) }];
  });
  const sources = Object.values(file.sources).map((entry): DbtNode => {
    const name = `${entry.source_name}.${entry.name}`;
    return { ...common(entry, tests), kind: "source", name, path: `sources/${name}`, dependsOn: [] };
  });
  const others = [
    ...Object.values(file.exposures).map((entry) => ({ kind: "exposure" as const, entry, ...ownership(entry) })),
    ...Object.values(file.metrics).map((entry) => ({ kind: "metric" as const, entry, facts: {} })),
  ].map(({ kind, entry, facts }): DbtNode => {
    const { name, description, tags } = entry;
    const known = { ...(entry.label && { Label: entry.label }), ...(entry.type && { Type: entry.type }), ...facts };
    const dependsOn = entry.depends_on.nodes.map(nameOf);
    return {
      kind,
      name,
      path: `${kind}s/${name}`,
      description,
      columns: [],
      tests: [],
      joins: [],
      dependsOn,
      tags,
      facts: known,
    };
  });
  const docs = Object.values(file.docs).filter(({ package_name: from }) => !project || from === project);
  return {
    nodes: [...built, ...sources, ...others],
    docs: new Map(docs.map(({ name, block_contents: contents }) => [name, contents])),
  };
}

const ownership = ({ url, owner }: z.output<typeof exposure>): { facts: Record<string, string> } => ({
  facts: { ...(owner.name && { Owner: owner.name }), ...(url && { Address: url }) },
});

function common(entry: z.output<typeof node>, tests: ReadonlyMap<string, Map<string, DbtTests>>) {
  const own = tests.get(entry.unique_id);
  const columns = Object.values(entry.columns).map(({ name, description, data_type: type }): DbtColumn => {
    return { name, type, description, tests: own?.get(name)?.tests ?? [] };
  });
  return {
    description: entry.description,
    ...(entry.relation_name && { relation: entry.relation_name.replaceAll(/["`]/g, "") }),
    columns,
    tests: own?.get("")?.tests ?? [],
    joins: [...(own?.values() ?? [])].flatMap(({ joins }) => joins),
    tags: entry.tags,
    facts: {},
    ...((entry.raw_code ?? entry.raw_sql) && { sql: (entry.raw_code ?? entry.raw_sql)! }),
  };
}

/** By tested node, then by column; the empty name for the whole node. */
function testsByNode({ nodes }: Manifest): Map<string, Map<string, DbtTests>> {
  const tests = new Map<string, Map<string, DbtTests>>();
  for (const test of Object.values(nodes)) {
    if (test.resource_type !== "test" || !test.test_metadata) continue;
    const { name, kwargs } = test.test_metadata;
    const target = test.attached_node ?? test.depends_on.nodes.at(-1);
    if (!target) continue;
    const column = test.column_name ?? (typeof kwargs["column_name"] === "string" ? kwargs["column_name"] : undefined);
    const ofNode = tests.get(target) ?? new Map<string, DbtTests>();
    const found = ofNode.get(column ?? "") ?? { tests: [], joins: [] };
    addDbtTest(found, name, kwargs, column);
    tests.set(target, ofNode.set(column ?? "", found));
  }
  return tests;
}
