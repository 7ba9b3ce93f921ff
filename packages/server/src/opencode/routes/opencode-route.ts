import type { IncomingMessage, ServerResponse } from "node:http";
import { RequestError, type PermissionMode } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import type { Scope, TokenRow } from "@tandem/storage";
import type { z } from "zod";
import type { OpenStreams } from "../../http/sse/open-streams.ts";
import type { Catalogue } from "../catalogue.ts";
import type { OpencodeHost } from "../../tenants/opencode-host.ts";
import type { OpencodeHub } from "../opencode-hub.ts";

/** A request after its token was checked. */
export interface OpencodeCall {
  engine: Engine;
  hub: OpencodeHub;
  catalogue: Catalogue;
  host: OpencodeHost;
  streams: OpenStreams;
  token: TokenRow;
  /** The modes that this token may choose. */
  modes: readonly PermissionMode[];
  params: Record<string, string>;
  query: URLSearchParams;
  body: unknown;
  /** The folder that the client works in. */
  directory: string;
  /** Fires when the client has gone. */
  signal: AbortSignal;
  incoming: IncomingMessage;
  outgoing: ServerResponse;
}

export interface OpencodeRoute {
  method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** With `:name` for parameters. */
  path: string;
  scope: Scope;
  /** Returns the JSON of the response, or a response. */
  handle(call: OpencodeCall): Promise<unknown>;
}

/** Parses a body. Fields that Tandem does not know are ignored, as opencode's server does. */
export function readFields<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  const parsed = schema.safeParse(value ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join(".") ?? "";
  throw new RequestError(
    "invalid_request",
    `${place === "" ? "The body" : place}: ${issue?.message ?? "is not valid"}.`,
  );
}
