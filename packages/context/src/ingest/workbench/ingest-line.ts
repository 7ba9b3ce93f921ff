import type { Config } from "@tandem/protocol";
import type { TableFile } from "../../catalogue/table-file.ts";
import type { ContextFolder } from "../../folder/context-folder.ts";
import type { Run } from "../../runs/job-run.ts";
import type { Embedder } from "@tandem/runtime";
import { CatalogueReader } from "../../catalogue/catalogue-reader.ts";
import type { ContextTool } from "../../context-tool.ts";
import type { ContextStore } from "../../sources/context-store.ts";
import type { MetricGate } from "./metric-tool.ts";
import type { Agents } from "./agent-loops.ts";
import type { EvidenceStore } from "./evidence-store.ts";

/**
 * One line of work of a run. Suspicious documents have a separate line with its own agents and proposal, so that they
 * cannot affect the results of other documents.
 */
export interface IngestLine {
  run: Run;
  agents: Agents;
  /** Prefix of its units and stages; empty for the normal line. */
  prefix: string;
  config: Config["ingest"];
  folder: ContextFolder;
  store: ContextStore;
  evidenceStore: EvidenceStore;
  catalogue: Catalogue;
  /** Database tools: table_describe, value_lookup, sql_query. */
  databaseTools: readonly ContextTool[];
  /** Checks drafts of metrics; undefined if there are no databases. */
  metricGate: MetricGate | undefined;
  embedder: Embedder | undefined;
  /** Pages in open proposals of earlier runs, with their proposals. */
  waiting: ReadonlyMap<string, string>;
}

/** Known tables, by `connection/schema.table`. */
export class Catalogue {
  readonly #tables: ReadonlyMap<string, TableFile>;

  private constructor(tables: ReadonlyMap<string, TableFile>) {
    this.#tables = tables;
  }

  static async read(folder: ContextFolder): Promise<Catalogue> {
    const reader = new CatalogueReader(folder);
    const tables = new Map<string, TableFile>();
    for (const connection of await reader.connections()) {
      for (const table of await reader.tables(connection)) {
        tables.set(`${table.connection}/${table.schema}.${table.table}`, table);
      }
    }
    return new Catalogue(tables);
  }

  get names(): string[] {
    return [...this.#tables.keys()].sort();
  }

  readonly has = (name: string): boolean => this.#tables.has(name);

  get(name: string): TableFile | undefined {
    return this.#tables.get(name);
  }

  ofConnection(connection: string): TableFile[] {
    return [...this.#tables.values()].filter((table) => table.connection === connection);
  }
}
