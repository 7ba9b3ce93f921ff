import type { QueryOptions } from "./connection.ts";

/** What a query may take, with nothing left open. */
export interface QueryLimits {
  maxRows: number;
  maxBytes: number;
  timeoutMs: number;
  signal?: AbortSignal;
}

/** Until a server has let us in, or a file is open. */
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
