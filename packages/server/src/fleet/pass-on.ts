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
import { cookieSecret } from "../http/page/sign-in.ts";
import { PASSED_ON } from "./passed-on.ts";
import type { Peer } from "./roster.ts";

/** Of one connection each (RFC 9110, 7.6.1); what is a browser's own affair with the server that it sees; and the guard. */
const NOT_PASSED_ON = new Set([
  ...["connection", "keep-alive", "proxy-connection", "proxy-authorization", "te", "trailer", "transfer-encoding"],
  ...["upgrade", "host", "content-length", "expect", "cookie", "origin", "referer", PASSED_ON],
]);
const NOT_RELAYED = new Set(["connection", "keep-alive", "transfer-encoding", "date", "request-id", "vary"]);
const CONNECT_MS = 3_000;
/** Who logs, counts and traces a request listens for its end, and a pipeline does so seven times: Node would call it a leak. */
const MOST_LISTENERS = 30;
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
  /** Under which the client knows it. */
  id: string;
}

/** What becomes of a request that could not be passed on. */
export class PassOnFailed extends Error {
  /** Whether it may have arrived. */
  readonly mayHaveArrived: boolean;

  constructor(cause: unknown, mayHaveArrived: boolean) {
    super("The request could not be passed on.", { cause });
    this.mayHaveArrived = mayHaveArrived;
  }
}

/**
 * Sends a request to another process as it came, with the same token, and resolves with the head of its answer. Over a
 * connection of its own: of one that was kept, nobody could say whether what was sent last has arrived.
 */
export async function passOn(
  { address }: Pick<Peer, "address">,
  { method, url, headers, remote, body, id }: PassedRequest,
  { signal, deadlineMs }: { signal: AbortSignal; deadlineMs: number },
): Promise<IncomingMessage> {
  const target = new URL(url, address);
  const send = target.protocol === "https:" ? httpsRequest : httpRequest;
  const request = send(target, {
    method,
    agent: false,
    signal,
    headers: {
      ...passedHeaders(headers, method),
      ...(body && { "content-length": body.byteLength }),
      "x-forwarded-for": [headers["x-forwarded-for"], remote].filter((part) => part !== undefined).join(", "),
      [PASSED_ON]: id,
    },
  });
  let isConnected = false;
  const late = (code: string) => () => request.destroy(Object.assign(new Error(code), { code }));
  const connecting = setTimeout(late("NOT_CONNECTED"), CONNECT_MS);
  const answering = setTimeout(late("NO_ANSWER"), deadlineMs);
  request.once("socket", (socket) => {
    socket.once(target.protocol === "https:" ? "secureConnect" : "connect", () => {
      isConnected = true;
      clearTimeout(connecting);
    });
  });
  try {
    request.end(body);
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    // What breaks later shows in the answer.
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

/** Those of a request as another process is to see them. */
export function passedHeaders(headers: IncomingHttpHeaders, method: string): OutgoingHttpHeaders {
  const passed = Object.fromEntries(
    Object.entries(headers).filter(([name]) => !NOT_PASSED_ON.has(name) && !name.startsWith("sec-fetch-")),
  );
  // The page's cookie is one of the server that it came from; the token in it is everybody's.
  const secret =
    headers.authorization === undefined && headers["x-api-key"] === undefined && cookieSecret(headers, method);
  return secret ? { ...passed, authorization: `Bearer ${secret}` } : passed;
}

/** Gives an answer to the client as it came, piece by piece. One that breaks off is seen to break off. */
export async function relay(answer: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined && !NOT_RELAYED.has(name) && !name.startsWith("access-control-"))
      outgoing.setHeader(name, value);
  }
  outgoing.writeHead(answer.statusCode ?? 502);
  outgoing.flushHeaders();
  outgoing.setMaxListeners(MOST_LISTENERS);
  await pipeline(answer, outgoing).catch(() => outgoing.destroy());
}
