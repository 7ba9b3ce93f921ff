import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from "node:http";
import { request as httpsRequest } from "node:https";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { PAGE_SIGNATURE_HEADER } from "@tandem/protocol";
import { SEAL_HEADER } from "../http/access/forward-seal.ts";
import { FORWARDED_HEADER } from "../http/request/forwarded-id.ts";
import type { Peer } from "./roster.ts";

/** Hop-by-hop headers (RFC 9110, 7.6.1), headers between a browser and its server, and those of the guard. */
const NOT_PASSED_ON = new Set(
  `connection keep-alive proxy-connection proxy-authorization te trailer transfer-encoding upgrade host content-length
  expect cookie origin referer ${PAGE_SIGNATURE_HEADER} ${SEAL_HEADER} ${FORWARDED_HEADER}`.split(/\s+/),
);
const NOT_RELAYED = new Set(["connection", "keep-alive", "transfer-encoding", "date", "request-id", "vary"]);
const CONNECT_MS = 3_000;
/**
 * A machine that vanishes closes no connection, and a stream only reads. The kernel then probes the other machine every second, and
 * ends the connection after ten probes without an answer.
 */
export const KEEP_ALIVE_MS = 10_000;
/**
 * Logging, metrics, tracing and a pipeline (seven listeners) exceed Node's default and would trigger a leak warning.
 */
const MAX_LISTENERS = 30;
const NEVER_CONNECTED = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "NOT_CONNECTED",
]);

export interface PassedRequest {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  remote: string | undefined;
  body: Uint8Array | undefined;
  /** The client's request id. */
  id: string;
  /** For a request that the page has signed, instead of a token. */
  seal?: string | undefined;
}

/** A request that could not be forwarded. */
export class PassOnFailed extends Error {
  /** Whether the other process may have received it; then a retry is not safe. */
  readonly mayHaveArrived: boolean;

  constructor(cause: unknown, mayHaveArrived: boolean) {
    super("The request could not be passed on.", { cause });
    this.mayHaveArrived = mayHaveArrived;
  }
}

/**
 * Forwards a request unchanged, with the same token or a seal, and resolves with the head of the response. Uses a new connection:
 * on a reused one it would be unknown whether the request arrived.
 */
export async function forwardRequest(
  { address }: Pick<Peer, "address">,
  { method, url, headers, remote, body, id, seal }: PassedRequest,
  { signal, deadlineMs }: { signal: AbortSignal; deadlineMs: number },
): Promise<IncomingMessage> {
  const target = new URL(url, address);
  const send = target.protocol === "https:" ? httpsRequest : httpRequest;
  const request = send(target, {
    method,
    agent: false,
    signal,
    headers: {
      ...passedHeaders(headers),
      ...(seal !== undefined && { [SEAL_HEADER]: seal }),
      ...(body && { "content-length": body.byteLength }),
      "x-forwarded-for": [headers["x-forwarded-for"], remote].filter((part) => part !== undefined).join(", "),
      [FORWARDED_HEADER]: id,
    },
  });
  let isConnected = false;
  const late = (code: string) => () => request.destroy(Object.assign(new Error(code), { code }));
  const connecting = setTimeout(late("NOT_CONNECTED"), CONNECT_MS);
  const answering = setTimeout(late("NO_ANSWER"), deadlineMs);
  request.once("socket", (socket) => {
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.once(target.protocol === "https:" ? "secureConnect" : "connect", () => {
      isConnected = true;
      clearTimeout(connecting);
    });
  });
  try {
    request.end(body);
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    // Later errors surface on the response.
    request.on("error", () => undefined);
    return answer;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw new PassOnFailed(error, isConnected && !NEVER_CONNECTED.has(code));
  } finally {
    clearTimeout(connecting);
    clearTimeout(answering);
  }
}

/** The headers of a forwarded request. */
export function passedHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !NOT_PASSED_ON.has(name) && !name.startsWith("sec-fetch-")),
  );
}

/** Streams a response to the client. A truncated response is truncated for the client, too. */
export async function relay(answer: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined && !NOT_RELAYED.has(name) && !name.startsWith("access-control-"))
      outgoing.setHeader(name, value);
  }
  outgoing.writeHead(answer.statusCode ?? 502);
  outgoing.flushHeaders();
  outgoing.setMaxListeners(MAX_LISTENERS);
  await pipeline(answer, outgoing).catch(() => outgoing.destroy());
}
