import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { forwardedId } from "./forwarded-id.ts";
import type { Logger } from "../create-logger.ts";
import { redactPath } from "../redact.ts";

/** The state of a request while it is served. */
export interface Exchange {
  id: string;
  /** The monotonic time at which it arrived. */
  begun: number;
  /** The id of its token, once known. */
  token?: string;
}

/** On every response: no caching, no framing, no access by other origins. */
const HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
} as const;

/** Assigns a request its id and writes its access log line at the end, without tokens, queries and bodies. */
export function beginExchange(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { logger, trustedProxy }: { logger: Logger; trustedProxy: boolean },
): Exchange {
  const begun = performance.now();
  const exchange: Exchange = { id: forwardedId(incoming) ?? `req_${randomBytes(12).toString("hex")}`, begun };
  outgoing.setHeader("request-id", exchange.id);
  for (const [name, value] of Object.entries(HEADERS)) outgoing.setHeader(name, value);
  const remote = incoming.socket.remoteAddress;
  outgoing.once("close", () => {
    logger.info(
      {
        request_id: exchange.id,
        method: incoming.method,
        path: redactPath(incoming.url?.split("?", 1)[0] ?? ""),
        status: outgoing.headersSent ? outgoing.statusCode : 0,
        ms: Math.round(performance.now() - begun),
        ...(exchange.token && { token: exchange.token }),
        remote,
        ...(trustedProxy && { forwarded_for: incoming.headers["x-forwarded-for"] }),
        ...(!outgoing.writableFinished && { aborted: true }),
      },
      "request",
    );
  });
  return exchange;
}
