import type {
  ContextHit,
  ContextMemory,
  ContextOverview,
  Evidence,
  PageOf,
  TableDescription,
  TableGraph,
  TableSummary,
  WikiPage,
  WikiPageSummary,
} from "@tandem/protocol";
import { useQuery } from "@tanstack/react-query";
import { api } from "../api/client.ts";
import { readAll } from "../api/lists.ts";
import { useServerQuery } from "../api/use-server-query.ts";

export type { Evidence, TableSummary, WikiPage };
export type Overview = ContextOverview;
export type Hit = ContextHit;
export type PageSummary = WikiPageSummary;
export type Memory = ContextMemory;
export type Table = TableDescription;
export type Column = Table["columns"][number];
export type Join = Table["joins"][number];
export type JoinOrigin = Join["origin"];
export type Descriptions = NonNullable<Table["descriptions"]>;
export type Graph = TableGraph;
export type GraphNode = Graph["nodes"][number];
export type GraphEdge = Graph["edges"][number];

export const useOverview = () => useServerQuery("context.retrieve", {});

/** A whole list, page after page. */
const useWholeList = <T>(
  queryKey: readonly unknown[],
  read: (page: { limit: number; page?: string }, signal: AbortSignal) => Promise<PageOf<T>>,
) =>
  useQuery<{ data: T[] }>({
    queryKey,
    queryFn: async ({ signal }) => ({ data: await readAll((page) => read(page, signal), { maxPages: Infinity }) }),
  });

export const usePages = () =>
  useWholeList(["/v1/context/pages"], (query, signal) => api.call("context.pages.list", { query, signal }));
export const useTables = () =>
  useWholeList(["/v1/context/tables"], (query, signal) => api.call("context.tables.list", { query, signal }));
export const useMemories = (session?: string) =>
  useWholeList(["/v1/context/memories", { session }], (page, signal) =>
    api.call("context.memories.list", { query: { ...page, ...(session !== undefined && { session }) }, signal }),
  );
