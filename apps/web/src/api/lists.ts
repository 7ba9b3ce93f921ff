import { useQuery } from "@tanstack/react-query";
import { api } from "./client.ts";

const PAGE = 1_000;
/** Upper bound, so that a huge list cannot block the page. */
const MAX_PAGES = 20;

interface Page<T> {
  data: T[];
  next_page?: string | null;
}

async function readAll<T>(read: (page: { limit: number; page?: string }) => Promise<Page<T>>): Promise<T[]> {
  const all: T[] = [];
  let page: string | undefined;
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const { data, next_page } = await read({ limit: PAGE, ...(page !== undefined && { page }) });
    all.push(...data);
    if (next_page === null || next_page === undefined) break;
    page = next_page;
  }
  return all;
}

/** Active agents; with `all` also archived ones. */
export const useAgents = (all = false) =>
  useQuery({
    queryKey: ["/v1/agents", { all }],
    queryFn: ({ signal }) =>
      readAll((page) =>
        api.call("agents.list", { query: { ...page, include_archived: all ? "true" : "false" }, signal }),
      ),
    staleTime: 30_000,
  });

export const useEnvironments = (all = false) =>
  useQuery({
    queryKey: ["/v1/environments", { all }],
    queryFn: ({ signal }) =>
      readAll((page) =>
        api.call("environments.list", { query: { ...page, include_archived: all ? "true" : "false" }, signal }),
      ),
    staleTime: 30_000,
  });

export const useModels = () =>
  useQuery({
    queryKey: ["/v1/models"],
    queryFn: ({ signal }) => readAll(({ limit }) => api.call("models.list", { query: { limit }, signal })),
    staleTime: 300_000,
  });

export const VAULTS_KEY = ["/v1/vaults"];

/** Vaults that are not archived. */
export const useVaults = () =>
  useQuery({
    queryKey: VAULTS_KEY,
    queryFn: ({ signal }) => readAll((page) => api.call("vaults.list", { query: page, signal })),
    staleTime: 30_000,
  });
