import { attempt, MetricError } from "../metric-error.ts";
import {
  type About,
  type ImportedEntity,
  type ImportedFilter,
  type ImportedMetric,
  ImportReport,
  type Located,
  type SourceText,
} from "./imported-project.ts";
import { readSource, SourceNode } from "./source-node.ts";

/** Collects the parts of a project, and the reasons why parts were left out. */
export class ProjectReader extends ImportReport {
  readonly entities: ImportedEntity[] = [];
  readonly metrics: ImportedMetric[] = [];

  /** Runs one part of the reading. A refused part is left out, and the result is undefined. */
  attempt<T>(at: Located, item: string, read: () => T): T | undefined {
    const result = attempt(read);
    if (!(result instanceof MetricError)) return result;
    this.leaveOut(at, item, result.message, result.fix);
    return undefined;
  }

  /** The roots of files that are YAML or JSON. */
  roots(texts: readonly SourceText[]): SourceNode[] {
    return texts.flatMap((text) => {
      const root = readSource(text);
      if (root instanceof SourceNode) return [root];
      this.leaveOut({ path: text.path, line: root.line }, "file", root.reason);
      return [];
    });
  }

  /** Lists keys that the import does not read, and that change no number. */
  leaveOutOthers(node: SourceNode, item: string, read: readonly string[]): void {
    for (const key of node.keys) {
      if (!read.includes(key)) this.leaveOut(node.get(key), `${item}: ${key}`, "Metrics have no counterpart for it.");
    }
  }
}

/** Refuses keys that the import does not know: one of them might change the numbers. */
export function refuseOthers(node: SourceNode, read: readonly string[]): void {
  const other = node.keys.find((key) => !read.includes(key));
  if (other !== undefined) throw new MetricError("unsupported", `The import does not know \`${other}\`.`);
}

export function required(node: SourceNode, key: string): string {
  const text = node.textOf(key);
  if (text !== undefined && text.trim() !== "") return text;
  throw new MetricError("unsupported", `It has no \`${key}\`.`);
}

/** Conditions in each of the ways in which dbt writes them. */
export function readFilters(node: SourceNode): ImportedFilter[] {
  const within = node.get("where_filters");
  if (within.isList) {
    return within.items.map((item) => ({ ...item.at, sql: required(item, "where_sql_template") }));
  }
  if (node.isList)
    return node.items.flatMap((item) => (item.text === undefined ? [] : [{ ...item.at, sql: item.text }]));
  return node.text === undefined ? [] : [{ ...node.at, sql: node.text }];
}

export function aboutOf(given: { [key in keyof About]?: About[key] | undefined }): About {
  return {
    ...(given.label && { label: given.label }),
    ...(given.description && { description: given.description }),
    ...(given.owner && { owner: given.owner }),
    ...(given.unit && { unit: given.unit }),
    ...(given.page && { page: given.page }),
    ...(given.aka && given.aka.length > 0 && { aka: given.aka }),
  };
}
