import { useQuery, type UseQueryOptions } from "@tanstack/react-query";
import { api, type Query } from "../api/client.ts";

// What the server tells of the context; see docs/reference/api.md.

export interface Overview {
  id: string;
  folder: string;
  counts: { table: number; page: number; memory: number };
  connections: { name: string; driver: string; tables: number }[];
  sources: { name: string; type: string }[];
  job_kinds: string[];
  problems: { path: string; message: string }[];
}

export interface Hit {
  key: string;
  kind: string;
  title: string;
  snippet: string;
  score: number;
}

export interface PageSummary {
  key: string;
  title: string;
  summary: string;
  tags: string[];
  refs: string[];
  citations: string[];
  problem: string | null;
}

export interface Passage {
  citation: string;
  source: string;
  path: string;
  title: string;
  headings: string[];
  content: string;
}

export interface WikiPage extends PageSummary {
  path: string;
  body: string;
  sources: { citation: string; path: string; passage: Passage | null; is_changed: boolean }[];
}

export interface TableSummary {
  id: string;
  connection: string;
  schema: string;
  table: string;
  type: "table" | "view";
  description: string;
  rows: number | null;
  columns: number;
  joins: number;
}

export interface Descriptions {
  human?: string;
  ai?: string;
  db?: string;
}

type Value = string | number | boolean;

export interface Column {
  name: string;
  type: string;
  nullable?: boolean;
  gone?: true;
  descriptions?: Descriptions;
  profile?: { nulls?: number; distinct?: number; min?: Value; max?: Value; samples?: Value[] };
}

export type JoinOrigin = "declared" | "data" | "model" | "human";

interface JoinFacts {
  columns: string[];
  to_columns: string[];
  cardinality: "many-to-one" | "one-to-one";
  origin: JoinOrigin;
  confidence: number;
}

export interface Join extends JoinFacts {
  to: string;
  when?: { column: string; equals: string };
  why?: string;
}

export interface Table {
  connection: string;
  schema: string;
  table: string;
  type: string;
  descriptions?: Descriptions;
  notes?: string;
  gone?: true;
  rows: number | null;
  primary_key: string[];
  unique_keys?: string[][];
  columns: Column[];
  joins: Join[];
  joined_from: (JoinFacts & { from: string })[];
}

export interface GraphNode extends Pick<TableSummary, "id" | "connection" | "schema" | "table" | "type" | "rows"> {
  description: string;
  distance: number;
  x: number;
  y: number;
}

export interface GraphEdge extends JoinFacts {
  from: string;
  to: string;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  truncated: boolean;
  box: { width: number; height: number };
}

/** What a line or a memory rests on. */
export type Evidence =
  | { type: "source"; source: string; path: string; citation: string; quote?: string }
  | { type: "database"; connection: string; table: string; column?: string; finding: string }
  | { type: "event"; session: string; event: string; quote?: string }
  | { type: "person" | "agent"; name: string; at: string; quote?: string }
  | { type: "model"; model: string; role: string };

export interface Memory {
  id: string;
  text: string;
  scope: "user" | "project" | "agent";
  agent: string | null;
  user: string | null;
  tags: string[];
  created_at: string;
  updated_at: string | null;
  expires_at: string | null;
  is_expired: boolean;
  sources: Evidence[];
  contradicts: string[];
}

export interface Paged<T> {
  data: T[];
  next_page: string | null;
}

type Options<T> = Omit<UseQueryOptions<T>, "queryKey" | "queryFn">;

/** One answer of the server, kept under what was asked for. */
export const useAnswer = <T>(path: string, query: Query = {}, options: Options<T> = {}) =>
  useQuery<T>({ queryKey: [path, query], queryFn: ({ signal }) => api.get<T>(path, query, signal), ...options });

export const useOverview = () => useAnswer<Overview>("/v1/context");

const MOST = 1_000;

/** A whole list, however many pages of it the server tells one after the other. */
const useWhole = <T>(path: string, query: Query = {}, options: Options<{ data: T[] }> = {}) =>
  useQuery<{ data: T[] }>({
    ...options,
    queryKey: [path, query],
    queryFn: async ({ signal }) => {
      const data: T[] = [];
      for (let page: string | undefined; ;) {
        const next: Paged<T> = await api.get<Paged<T>>(path, { ...query, limit: MOST, page }, signal);
        data.push(...next.data);
        if (next.next_page === null) return { data };
        page = next.next_page;
      }
    },
  });

export const usePages = () => useWhole<PageSummary>("/v1/context/pages");
export const useTables = () => useWhole<TableSummary>("/v1/context/tables");
export const useMemories = (session?: string) => useWhole<Memory>("/v1/context/memories", { session });
