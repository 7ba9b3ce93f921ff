import type { Agent, Environment } from "@tandem/protocol";
import { useQuery } from "@tanstack/react-query";
import { api, type Query } from "./client.ts";

export interface Page<T> {
  data: T[];
  next_page: string | null;
}

export interface Model {
  id: string;
  display_name: string;
  /** The size of its context window, where it is known. */
  max_input_tokens: number | null;
  tandem: { aliases: string[] };
}

const PAGE = 1_000;
/** A list that is longer is not read by anybody. */
const MOST_PAGES = 20;

/** All of a list, page by page. */
async function readAll<T>(path: string, query: Query, signal: AbortSignal): Promise<T[]> {
  const all: T[] = [];
  let page: string | undefined;
  for (let count = 0; count < MOST_PAGES; count += 1) {
    const { data, next_page } = await api.get<Page<T>>(path, { ...query, limit: PAGE, page }, signal);
    all.push(...data);
    if (next_page === null || next_page === undefined) break;
    page = next_page;
  }
  return all;
}

/** Agents that sessions can be of; with `all`, the archived ones too. */
export const useAgents = (all = false) =>
  useQuery({
    queryKey: ["/v1/agents", { all }],
    queryFn: ({ signal }) => readAll<Agent>("/v1/agents", { include_archived: all }, signal),
    staleTime: 30_000,
  });

export const useEnvironments = (all = false) =>
  useQuery({
    queryKey: ["/v1/environments", { all }],
    queryFn: ({ signal }) => readAll<Environment>("/v1/environments", { include_archived: all }, signal),
    staleTime: 30_000,
  });

export const useModels = () =>
  useQuery({
    queryKey: ["/v1/models"],
    queryFn: ({ signal }) => readAll<Model>("/v1/models", {}, signal),
    staleTime: 300_000,
  });
