import { type Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { CheckedTarget } from "./check-target.ts";
import { checkedLookup } from "./connect-checked.ts";
import { proxiedHttpAgent } from "./proxied-agents.ts";
import { UpstreamError } from "./upstream-proxy.ts";
import { injectBody } from "./inject-body.ts";
import { type InjectedCredential, injectedSecrets, injectHeaders } from "./injected-credential.ts";
import { endToEnd, type HeaderPair, headerPairs } from "./request-headers.ts";
import { decompressor, secretFilter, withoutSecrets } from "./secret-filter.ts";

export interface Forwarding {
  protocol: "http:" | "https:";
  target: CheckedTarget;
  path: string;
  credentials: readonly InjectedCredential[];
  /** Connections of one tunnel. Without it, each request has its own. */
  agent?: Agent;
  /** Replaces the trusted roots, in tests. */
  ca?: readonly string[];
  idleMs: number;
  connectMs: number;
}

/** Sends one request of the client to a checked target and streams the answer back. Redirects are left to the client. */
export async function forwardHttp(
  request: IncomingMessage,
  response: ServerResponse,
  { protocol, target, path, credentials, agent, ca, idleMs, connectMs }: Forwarding,
): Promise<void> {
  request.on("error", () => response.destroy());
  response.on("error", () => response.destroy());
  const defaultPort = protocol === "https:" ? 443 : 80;
  const host = target.port === defaultPort ? target.host : `${target.host}:${target.port}`;
  const headers = sentHeaders(request, host, credentials);
  const secrets = injectedSecrets(headers, credentials);
  try {
    const { headers: described, body } = await injectBody(request, headers, credentials);
    if (response.destroyed) return;
    const sent = (protocol === "https:" ? httpsRequest : httpRequest)({
      protocol,
      hostname: target.host,
      servername: target.host,
      port: target.port,
      method: request.method,
      path,
      headers: described.flat(),
      setHost: false,
      lookup: checkedLookup(target),
      agent: agent ?? (target.via ? proxiedHttpAgent(target, connectMs) : false),
      ...(ca && { ca: [...ca] }),
    });
    sent.setTimeout(idleMs, () => sent.destroy(new Error("idle")));
    response.once("close", () => sent.destroy());
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      sent.once("response", resolve);
      sent.on("error", reject);
      sent.once("close", () => reject(new Error("closed")));
    });
    // `pipeline` would destroy the client's connection on an error, which still needs an answer.
    if (Buffer.isBuffer(body)) sent.end(body);
    else body.pipe(sent);
    const answer = await answered;
    const { returned, decoders } = decoded(answer, secrets.length > 0 && request.method !== "HEAD");
    response.writeHead(
      answer.statusCode ?? 502,
      returned.flatMap(([name, value]) => [name, withoutSecrets(value, secrets)]),
    );
    response.flushHeaders();
    await pipeline([answer, ...decoders, secretFilter(secrets), response]);
  } catch (error) {
    if (response.headersSent) return void response.destroy();
    const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
    const why = error instanceof UpstreamError ? ` ${error.message}` : "";
    sendText(response, 502, `${target.host} cannot be reached${code}.${why}`);
  }
}

/** The headers of an answer, and streams that make its body plain: a secret in a compressed one would not be found. */
function decoded(answer: IncomingMessage, isFiltered: boolean): { returned: HeaderPair[]; decoders: Transform[] } {
  const returned = endToEnd(headerPairs(answer.rawHeaders));
  const encodings = (answer.headers["content-encoding"] ?? "")
    .split(",")
    .filter((each) => !/^\s*(identity)?\s*$/i.test(each));
  const isEmpty = answer.statusCode === 204 || answer.statusCode === 304 || answer.headers["content-length"] === "0";
  if (!isFiltered || isEmpty || encodings.length === 0) return { returned, decoders: [] };
  const decoders = encodings.toReversed().map((encoding) => {
    const decoder = decompressor(encoding);
    if (decoder) return decoder;
    answer.destroy();
    throw Object.assign(new Error("An answer has an unknown encoding."), { code: "UNKNOWN_CONTENT_ENCODING" });
  });
  const plain = returned.filter(([name]) => name !== "content-encoding" && name !== "content-length");
  return { returned: plain, decoders };
}

export function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    ...(!response.req.complete && { connection: "close" }),
  });
  response.end(`${text}\n`);
}

function sentHeaders(request: IncomingMessage, host: string, credentials: readonly InjectedCredential[]): HeaderPair[] {
  const pairs = endToEnd(headerPairs(request.rawHeaders)).filter(([name]) => name !== "host");
  const isChunked = request.headers["transfer-encoding"] !== undefined;
  const own: HeaderPair[] = [["host", host], ...(isChunked ? [["transfer-encoding", "chunked"] as const] : [])];
  if (credentials.length === 0) return [...own, ...pairs];
  const injected = injectHeaders(pairs, credentials).filter(([name]) => name !== "accept-encoding");
  // Secrets are filtered from the answer in plain bytes.
  return [...own, ...injected, ["accept-encoding", "identity"]];
}
