import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { passedOnAs } from "../fleet/passed-on.ts";
import type { Logger } from "./create-logger.ts";

/** What is known about a request while it is served. */
export interface Exchange {
  id: string;
  /** Whose token it carried, once that is known. */
  token?: string;
}

/** On every answer. Nothing here is for a cache, for a frame, or for a page of another origin. */
const HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
} as const;

/** Gives a request its id, and the access log its line once it is over: neither tokens nor queries nor bodies. */
export function beginExchange(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { logger, trustedProxy }: { logger: Logger; trustedProxy: boolean },
): Exchange {
  const exchange: Exchange = { id: passedOnAs(incoming) ?? `req_${randomBytes(12).toString("hex")}` };
  const begun = performance.now();
  outgoing.setHeader("request-id", exchange.id);
  for (const [name, value] of Object.entries(HEADERS)) outgoing.setHeader(name, value);
  const remote = incoming.socket.remoteAddress;
  outgoing.once("close", () => {
    logger.info(
      {
        request_id: exchange.id,
        method: incoming.method,
        path: incoming.url?.split("?", 1)[0],
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
