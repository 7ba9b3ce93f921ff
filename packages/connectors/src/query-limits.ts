import type { QueryOptions } from "./connection.ts";

/** Limits of a query, with defaults applied. */
export interface QueryLimits {
  maxRows: number;
  maxBytes: number;
  timeoutMs: number;
  signal?: AbortSignal;
}

/** Time to log in to a server or open a file. */
export const CONNECT_TIMEOUT_MS = 10_000;

const DEFAULTS = { maxRows: 1_000, maxBytes: 1_000_000, timeoutMs: 30_000 };

export function queryLimits(options: QueryOptions = {}): QueryLimits {
  return {
    maxRows: options.maxRows ?? DEFAULTS.maxRows,
    maxBytes: options.maxBytes ?? DEFAULTS.maxBytes,
    timeoutMs: options.timeoutMs ?? DEFAULTS.timeoutMs,
    signal: options.signal,
  };
}
