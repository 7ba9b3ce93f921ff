import type { Agent, Environment } from "@tandem/protocol";
import { useQuery } from "@tanstack/react-query";
import { api } from "./client.ts";

export interface Page<T> {
  data: T[];
  next_page: string | null;
}

export interface Model {
  id: string;
  display_name: string;
  tandem: { aliases: string[] };
}

const MOST = 1_000;

/** Agents that sessions can be of; with `all`, the archived ones too. */
export const useAgents = (all = false) =>
  useQuery({
    queryKey: ["/v1/agents", { all }],
    queryFn: ({ signal }) => api.get<Page<Agent>>("/v1/agents", { limit: MOST, include_archived: all }, signal),
    select: ({ data }) => data,
    staleTime: 30_000,
  });

export const useEnvironments = (all = false) =>
  useQuery({
    queryKey: ["/v1/environments", { all }],
    queryFn: ({ signal }) =>
      api.get<Page<Environment>>("/v1/environments", { limit: MOST, include_archived: all }, signal),
    select: ({ data }) => data,
    staleTime: 30_000,
  });

export const useModels = () =>
  useQuery({
    queryKey: ["/v1/models"],
    queryFn: ({ signal }) => api.get<Page<Model>>("/v1/models", { limit: MOST }, signal),
    select: ({ data }) => data,
    staleTime: 300_000,
  });
