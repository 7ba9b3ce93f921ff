import type { IncomingMessage } from "node:http";

export interface WireRequest {
  method: "GET" | "POST" | "DELETE";
  /** With its query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer | undefined;
  signal: AbortSignal;
}

/** Leads a host's requests to the HTTP API: that of a server that is up, or one in this process. */
export interface Wire {
  /** Resolves with whatever was answered, refusals too; rejects where nothing was. */
  send(request: WireRequest): Promise<IncomingMessage>;
}
