import type { Connection, Dialect } from "@tandem/connectors";
import type { ContextFolder } from "../folder/context-folder.ts";
import type { ContextSearch } from "../search/context-search.ts";
import type { CatalogueReader } from "./catalogue-reader.ts";
import type { ContextTool } from "./context-tool.ts";
import { type ContextWork, jobTools } from "./job-tools.ts";
import { joinTool } from "./join-tool.ts";
import { pageTool } from "./page-tool.ts";
import { searchTool } from "./search-tool.ts";
import { sqlTool } from "./sql-tool.ts";
import { tableTool } from "./table-tool.ts";
import { valueTool } from "./value-tool.ts";

/** All context tools. Those that need a database or a model are omitted without one. */
export function createContextTools(parts: {
  folder: ContextFolder;
  /** Owner of user memories; see `ContextSettings`. */
  user?: string;
  search: ContextSearch;
  catalogue: CatalogueReader;
  /** Connections by name, and how to open one. */
  connections: { dialects: ReadonlyMap<string, Dialect>; open(name: string): Promise<Connection> };
  work?: ContextWork;
}): ContextTool[] {
  const { folder, user, search, catalogue, connections, work } = parts;
  return [
    searchTool(search),
    pageTool(folder, user),
    tableTool(catalogue),
    joinTool(catalogue, (name) => connections.dialects.get(name)),
    valueTool(search, catalogue),
    ...(connections.dialects.size > 0
      ? [sqlTool((name) => connections.open(name), [...connections.dialects.keys()])]
      : []),
    ...(work ? jobTools(work) : []),
  ];
}
