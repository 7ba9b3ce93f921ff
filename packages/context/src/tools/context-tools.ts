import type { Connection, Dialect } from "@tandem/connectors";
import type { ContextFolder } from "../folder/context-folder.ts";
import type { Proposals } from "../proposals/proposals.ts";
import type { SearchView } from "../search/context-search.ts";
import type { Metrics } from "../metrics/metrics-service.ts";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import type { ContextTool } from "../context-tool.ts";
import { type ContextWork, jobTools } from "./job-tools.ts";
import { joinTool } from "./join-tool.ts";
import { listTools } from "./list-tools.ts";
import { metricTools } from "./metric-tools.ts";
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
  search: SearchView;
  catalogue: CatalogueReader;
  /** Connections by name, and how to open one. */
  connections: { dialects: ReadonlyMap<string, Dialect>; open(name: string): Promise<Connection> };
  /** Proposals that wait for a review; joins among them are mentioned, never used. */
  proposals?: Pick<Proposals, "waiting" | "page">;
  metrics?: Metrics;
  work?: ContextWork;
  /** How to treat statements whose numbers are wrong or can be. */
  unsoundSql?: "warn" | "refuse";
}): ContextTool[] {
  const { folder, user, search, catalogue, connections, proposals, metrics, work, unsoundSql = "warn" } = parts;
  return [
    searchTool(search, catalogue),
    pageTool(folder, search, user),
    ...listTools({ folder, catalogue, dialects: connections.dialects, metrics }),
    tableTool(catalogue, metrics),
    joinTool({ catalogue, connections, proposals }),
    valueTool(catalogue),
    ...(metrics && connections.dialects.size > 0 ? metricTools(metrics, search) : []),
    ...(connections.dialects.size > 0
      ? [
          sqlTool({
            connect: (name) => connections.open(name),
            connections: [...connections.dialects.keys()],
            catalogue,
            metrics,
            onUnsound: unsoundSql,
          }),
        ]
      : []),
    ...(work ? jobTools(work) : []),
  ];
}
