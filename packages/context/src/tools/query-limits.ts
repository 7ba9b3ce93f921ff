/** Limits of a query for a person or an agent. */
export const QUERY_LIMITS = { maxRows: 1_000, maxBytes: 256 * 1_024 } as const;
