import { SecretScrubber } from "@tandem/sandbox";
import type { McpFetch } from "./mcp-fetch.ts";

/** The token of an MCP server, which only this process knows. */
export interface McpAuthorization {
  /** Read for each request, so that a new token counts at once. Undefined: send none. */
  token(): Promise<string | undefined>;
  /** The server answered 401 to this token. Resolves with another one to retry with, if there is one. */
  renew(refused: string): Promise<string | undefined>;
}

/**
 * Adds the token to requests to the origin of `server`, and to no other. The token is overwritten in answers: a server that returns
 * it must not show it to the model or to the log.
 */
export function authorizeFetch(
  send: McpFetch["fetch"],
  server: URL,
  authorization: McpAuthorization,
): McpFetch["fetch"] {
  return async (address, init = {}) => {
    if (new URL(address).origin !== server.origin) return send(address, init);
    const token = await authorization.token();
    const response = await sendWith(token);
    if (response.status !== 401 || token === undefined || !isRepeatable(init)) return response;
    const renewed = await authorization.renew(token);
    if (renewed === undefined || renewed === token) return response;
    await response.body?.cancel();
    return sendWith(renewed);

    async function sendWith(bearer: string | undefined): Promise<Response> {
      if (bearer === undefined) return send(address, init);
      const headers = new Headers(init.headers);
      headers.set("authorization", `Bearer ${bearer}`);
      return scrubbed(await send(address, { ...init, headers }), bearer);
    }
  };
}

const isRepeatable = ({ body }: RequestInit): boolean =>
  body === undefined || body === null || typeof body === "string";

function scrubbed(response: Response, secret: string): Response {
  if (!response.body) return response;
  const scrubber = new SecretScrubber([secret]);
  const filter = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, out) => out.enqueue(scrubber.push(chunk)),
    flush: (out) => out.enqueue(scrubber.end()),
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(filter), { status, statusText, headers });
}
