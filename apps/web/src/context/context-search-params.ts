/** Search parameters that filter a view. */
const CONTEXT_SEARCH = ["q", "kind", "connection", "session", "hops", "all"] as const;
export type ContextSearch = { [K in (typeof CONTEXT_SEARCH)[number]]?: string };

const isContextSearch = (name: string): boolean => CONTEXT_SEARCH.some((known) => known === name);

/** Drops unknown parameters. */
export const readContextSearch = (search: Record<string, unknown>): ContextSearch =>
  Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) => (isContextSearch(name) ? [[name, String(value)]] : [])),
  );
