import type { IncomingMessage } from "node:http";

export interface WireRequest {
  method: "GET" | "POST" | "DELETE";
  /** Path and query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer | undefined;
  signal: AbortSignal;
}

/** Sends a host's requests to the HTTP API, of a running server or in this process. */
export interface Wire {
  /** Resolves with any response, also an error; rejects if there was none. */
  send(request: WireRequest): Promise<IncomingMessage>;
}
