import type { PageOf } from "@tandem/protocol";
import { useQuery } from "@tanstack/react-query";
import { api } from "./client.ts";

const PAGE = 1_000;
/** Upper bound, so that a huge list cannot block the choice of an entry. */
const MAX_PAGES = 20;

/** Reads a list page by page, all of it or the first pages. */
export async function readAll<T>(
  read: (page: { limit: number; page?: string }) => Promise<PageOf<T>>,
  { maxPages }: { maxPages: number },
): Promise<T[]> {
  const all: T[] = [];
  let page: string | undefined;
  for (let count = 0; count < maxPages; count += 1) {
    const { data, next_page } = await read({ limit: PAGE, ...(page !== undefined && { page }) });
    all.push(...data);
    if (next_page === null) break;
    page = next_page;
  }
  return all;
}

/** Active agents; with `all` also archived ones. */
export const useAgents = (all = false) =>
  useQuery({
    queryKey: ["/v1/agents", { all }],
    queryFn: ({ signal }) =>
      readAll(
        (page) => api.call("agents.list", { query: { ...page, include_archived: all ? "true" : "false" }, signal }),
        { maxPages: MAX_PAGES },
      ),
    staleTime: 30_000,
  });

export const useEnvironments = (all = false) =>
  useQuery({
    queryKey: ["/v1/environments", { all }],
    queryFn: ({ signal }) =>
      readAll(
        (page) =>
          api.call("environments.list", { query: { ...page, include_archived: all ? "true" : "false" }, signal }),
        { maxPages: MAX_PAGES },
      ),
    staleTime: 30_000,
  });

export const useModels = () =>
  useQuery({
    queryKey: ["/v1/models"],
    queryFn: async ({ signal }) => (await api.call("models.list", { query: { limit: PAGE }, signal })).data,
    staleTime: 300_000,
  });

export const VAULTS_KEY = ["/v1/vaults"];

/** Vaults that are not archived. */
export const useVaults = () =>
  useQuery({
    queryKey: VAULTS_KEY,
    queryFn: ({ signal }) =>
      readAll((page) => api.call("vaults.list", { query: page, signal }), { maxPages: MAX_PAGES }),
    staleTime: 30_000,
  });
