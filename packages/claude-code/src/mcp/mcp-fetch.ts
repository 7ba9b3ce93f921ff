import { lookup as systemLookup, type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { RequestError } from "@tandem/protocol";
import { isPrivateAddress } from "@tandem/sandbox";
import type { Agent } from "undici";

/** Resolves a name to all its addresses. */
export type ResolveName = (
  hostname: string,
  options: { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface McpFetch extends AsyncDisposable {
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Why a request was refused. Transports replace the error of a request by their own. */
  readonly refusal: RequestError | undefined;
}

/**
 * Sends the requests to an MCP server. It follows no redirects: the URL that was named is the only target. With `publicOnly`, it
 * connects to public addresses only. The addresses are checked where the socket gets them, so that a name cannot resolve to
 * another address between the check and the connection. Such requests use no proxy, which would resolve the name itself.
 */
export function createMcpFetch(
  publicOnly: boolean,
  {
    resolve = systemLookup,
    isPrivate = isPrivateAddress,
  }: { resolve?: ResolveName; isPrivate?: (address: string) => boolean } = {},
): McpFetch {
  let agent: Promise<Agent> | undefined;
  let refusal: RequestError | undefined;
  const refuse = (error: RequestError): RequestError => (refusal = error);

  const lookup: LookupFunction = (hostname, options, callback) =>
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const found = addresses.find(({ address }) => isPrivate(address));
      if (found) return callback(refuse(notPublic(hostname, found.address)), []);
      const [first] = addresses;
      if (options.all || !first) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });

  const send = async (url: URL, init: RequestInit): Promise<Response> => {
    if (!publicOnly) return fetch(url, init);
    // A socket resolves only names, so an address in the URL is checked here. `URL` has normalized its spelling.
    const literal = url.hostname.replaceAll(/^\[|\]$/g, "");
    if (isLiteral(literal) && isPrivate(literal)) throw refuse(notPublic(url.hostname));
    // Loaded on demand: few sessions need it.
    agent ??= import("undici").then((undici) => new undici.Agent({ connect: { lookup } }));
    const { fetch: fetchWith } = await import("undici");
    const dispatcher = await agent;
    // Undici's types and the global ones describe the same classes.
    return (fetchWith as unknown as (at: URL, init: object) => Promise<Response>)(url, { ...init, dispatcher });
  };

  return {
    async fetch(address, init = {}) {
      const url = new URL(address);
      const response = await send(url, { ...init, redirect: "manual" }).catch((error: unknown) => {
        const cause = error instanceof Error ? error.cause : undefined;
        throw cause instanceof RequestError ? cause : error;
      });
      if (response.status < 300 || response.status > 399) return response;
      await response.body?.cancel();
      throw refuse(redirected(url, response.headers.get("location")));
    },
    get refusal() {
      return refusal;
    },
    async [Symbol.asyncDispose]() {
      await (await agent)?.destroy();
    },
  };
}

const isLiteral = (hostname: string): boolean => hostname.includes(":") || /^[\d.]+$/.test(hostname);

function notPublic(hostname: string, address?: string): RequestError {
  const which = address === undefined ? hostname : `${hostname} is ${address}, which`;
  return new RequestError("forbidden", `${which} is a loopback, private or reserved address.`, {
    fix:
      "An admin of the server can allow it: name the server under mcpServers in tandem.yaml and use tandem:NAME as its URL, " +
      "or use the URL in an agent of the default tenant.",
  });
}

function redirected(from: URL, location: string | null): RequestError {
  const target = location === null ? null : URL.parse(location, from.href);
  // Without the query, which may contain a credential.
  const where = target ? ` to ${target.origin}${target.pathname}` : "";
  return new RequestError("forbidden", `It redirects${where}. Redirects are not followed.`, {
    fix: "If you trust that address, use it as the server's URL.",
  });
}
