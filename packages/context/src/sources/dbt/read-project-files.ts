import { basename } from "node:path/posix";
import { TandemError } from "@tandem/protocol";
import { parse } from "yaml";
import type { DbtColumn, DbtNode } from "./dbt-node.ts";
import { isRecord, readDbtTests, type DbtTests } from "./read-dbt-tests.ts";
import { sqlTables } from "../sql/sql-tables.ts";

export interface ProjectFile {
  path: string;
  text: string;
}

export interface ProjectFiles {
  nodes: DbtNode[];
  docs: Map<string, string>;
  broken: { path: string; error: TandemError }[];
}

const textIn = (record: Record<string, unknown>, key: string): string =>
  typeof record[key] === "string" ? record[key] : "";
const recordsIn = (record: Record<string, unknown>, key: string): Record<string, unknown>[] =>
  Array.isArray(record[key]) ? record[key].filter(isRecord) : [];
const tagsIn = (record: Record<string, unknown>): string[] =>
  [record["tags"]].flat().filter((tag) => typeof tag === "string");

/** Reads a project's files without a dbt run: names, descriptions, tests and SQL, but no types and tables. */
export function readProjectFiles(files: readonly ProjectFile[]): ProjectFiles {
  const docs = new Map<string, string>();
  const broken: ProjectFiles["broken"] = [];
  const described = new Map<string, { entry: Record<string, unknown>; kind: DbtNode["kind"]; path: string }>();
  const nodes: DbtNode[] = [];
  for (const { path, text } of files) {
    if (path.endsWith(".md")) for (const [name, block] of docsBlocks(text)) docs.set(name, block);
    if (!/\.ya?ml$/.test(path)) continue;
    try {
      const content: unknown = parse(text);
      if (!isRecord(content)) continue;
      for (const [key, kind] of [
        ["models", "model"],
        ["seeds", "seed"],
        ["snapshots", "snapshot"],
      ] as const) {
        for (const entry of recordsIn(content, key)) described.set(textIn(entry, "name"), { entry, kind, path });
      }
      nodes.push(...sourcesIn(content), ...exposuresIn(content));
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message.split("\n", 1)[0]! : "it cannot be parsed";
      broken.push({
        path,
        error: new TandemError("broken", `${path} is not valid YAML: ${reason}`, { fix: "Correct it.", cause }),
      });
    }
  }
  const sqlByName = new Map(files.filter(({ path }) => path.endsWith(".sql")).map((file) => [nameOf(file.path), file]));
  for (const [name, file] of sqlByName) nodes.push(modelNode(name, file, described.get(name)));
  for (const [name, known] of described)
    if (name && !sqlByName.has(name)) nodes.push(modelNode(name, undefined, known));
  return { nodes, docs, broken };
}

const nameOf = (path: string): string => basename(path, ".sql");

function modelNode(
  name: string,
  file: ProjectFile | undefined,
  known: { entry: Record<string, unknown>; kind: DbtNode["kind"]; path: string } | undefined,
): DbtNode {
  const kind = known?.kind ?? (/\{%-?\s*snapshot\b/.test(file?.text ?? "") ? "snapshot" : "model");
  return {
    kind,
    name,
    path: file?.path ?? `${kind}s/${name}`,
    ...partsOf(known?.entry ?? {}),
    dependsOn: file ? sqlTables(file.text) : [],
    facts: {},
    ...(file && { sql: file.text }),
  };
}

function partsOf(
  entry: Record<string, unknown>,
): Pick<DbtNode, "description" | "columns" | "tests" | "joins" | "tags"> {
  const own = testsOf(entry, undefined);
  const joins = [...own.joins];
  const columns = recordsIn(entry, "columns").map((column): DbtColumn => {
    const name = textIn(column, "name");
    const found = testsOf(column, name);
    joins.push(...found.joins);
    return { name, type: textIn(column, "data_type"), description: textIn(column, "description"), tests: found.tests };
  });
  return { description: textIn(entry, "description"), columns, tests: own.tests, joins, tags: tagsIn(entry) };
}

function testsOf(entry: Record<string, unknown>, column: string | undefined): DbtTests {
  const lists = [entry["tests"], entry["data_tests"]].map((list) => readDbtTests(list, column));
  return { tests: lists.flatMap(({ tests }) => tests), joins: lists.flatMap(({ joins }) => joins) };
}

function sourcesIn(content: Record<string, unknown>): DbtNode[] {
  return recordsIn(content, "sources").flatMap((source) =>
    recordsIn(source, "tables").map((table): DbtNode => {
      const name = `${textIn(source, "name")}.${textIn(table, "name")}`;
      const place = [textIn(source, "database"), textIn(source, "schema") || textIn(source, "name")].filter(Boolean);
      const relation = [...place, textIn(table, "identifier") || textIn(table, "name")].join(".");
      const description = [textIn(table, "description"), textIn(source, "description")].filter(Boolean).join("\n\n");
      return {
        kind: "source",
        name,
        path: `sources/${name}`,
        relation,
        ...partsOf(table),
        description,
        dependsOn: [],
        facts: {},
      };
    }),
  );
}

function exposuresIn(content: Record<string, unknown>): DbtNode[] {
  return recordsIn(content, "exposures").map((entry): DbtNode => {
    const owner = isRecord(entry["owner"]) ? textIn(entry["owner"], "name") : "";
    const facts = {
      ...(textIn(entry, "label") && { Label: textIn(entry, "label") }),
      ...(textIn(entry, "type") && { Type: textIn(entry, "type") }),
      ...(owner && { Owner: owner }),
      ...(textIn(entry, "url") && { Address: textIn(entry, "url") }),
    };
    const uses = Array.isArray(entry["depends_on"]) ? entry["depends_on"].map(String) : [];
    const dependsOn = uses.flatMap((use) => sqlTables(`from {{ ${use} }}`));
    const name = textIn(entry, "name");
    return { kind: "exposure", name, path: `exposures/${name}`, ...partsOf(entry), dependsOn, facts };
  });
}

function docsBlocks(text: string): [string, string][] {
  const blocks = text.matchAll(/\{%-?\s*docs\s+(\w+)\s*-?%\}([\s\S]*?)\{%-?\s*enddocs\s*-?%\}/g);
  return [...blocks].map(([, name, block]) => [name!, block!.trim()]);
}
