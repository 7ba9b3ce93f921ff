/** Search parameters that filter a view or hold its query. */
const CONTEXT_SEARCH = [
  "q",
  "kind",
  "connection",
  "session",
  "hops",
  "all",
  "metrics",
  "by",
  "segments",
  "order",
  "limit",
  "fill",
  "view",
] as const;
export type ContextSearch = { [K in (typeof CONTEXT_SEARCH)[number]]?: string } & {
  /** Filters of a metric query, as the API has them. Not validated: a link can be written by hand. */
  where?: readonly unknown[];
};

const isContextSearch = (name: string): boolean => CONTEXT_SEARCH.some((known) => known === name);

/** Drops unknown parameters. */
export const readContextSearch = (search: Record<string, unknown>): ContextSearch => ({
  ...Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) => (isContextSearch(name) ? [[name, String(value)]] : [])),
  ),
  ...(Array.isArray(search["where"]) && { where: search["where"] }),
});
