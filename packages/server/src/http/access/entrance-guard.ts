import type { IncomingHttpHeaders } from "node:http";
import { RequestError } from "@tandem/protocol";
import { isLoopback, type ServerSettings } from "../settings.ts";

/**
 * Blocks foreign web pages. A page can make a browser on this machine send requests here: under its own host name that
 * resolves to 127.0.0.1 (DNS rebinding), or across origins. Both are refused before anything else is read. Requests
 * without an origin are not from a browser; they still need a token.
 */
export class EntranceGuard {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #schemes: ReadonlySet<string>;

  constructor({ host, allowedHosts, allowedOrigins, tls, trustedProxy }: ServerSettings) {
    const names = ANY_ADDRESS.has(host) ? allowedHosts : [host, ...allowedHosts];
    this.#hosts = new Set(names.map((name) => bare(name.toLowerCase())));
    this.#origins = new Set(allowedOrigins);
    this.#schemes = new Set(tls ? ["https:"] : trustedProxy ? ["http:", "https:"] : ["http:"]);
  }

  /** Throws if the request is not allowed. Returns its foreign origin if the settings allow that. */
  check(headers: IncomingHttpHeaders): string | undefined {
    this.checkHost(headers);
    const { origin, host = "" } = headers;
    if (origin !== undefined && this.#origins.has(origin)) return origin;
    const site = headers["sec-fetch-site"];
    const isForeign =
      (origin !== undefined && !this.#isOwn(origin, host)) ||
      (site !== undefined && site !== "same-origin" && site !== "none");
    if (isForeign) throw new RequestError("forbidden", "Web pages of other origins are not let in.");
    return undefined;
  }

  /** Throws if the request is for another host. The only check for a page without effect that other sites may open. */
  checkHost({ host = "" }: IncomingHttpHeaders): void {
    if (this.#knowsHost(host)) return;
    throw new RequestError("forbidden", "The server does not go by this name.", {
      fix: "Call it by an address of this machine, or allow the name in its settings.",
    });
  }

  #knowsHost(host: string): boolean {
    if (!URL.canParse(`http://${host}`)) return false;
    const { hostname, pathname, username } = new URL(`http://${host}`);
    if (pathname !== "/" || username !== "") return false;
    return isLoopback(hostname) || this.#hosts.has(bare(hostname));
  }

  /**
   * The page served by this server: same host and port. `localhost`, `127.0.0.1` and `[::1]` are one host. Other ports and
   * other loopback addresses are foreign, because other servers can listen there.
   */
  #isOwn(origin: string, host: string): boolean {
    if (!URL.canParse(origin)) return false;
    const { protocol, hostname, port } = new URL(origin);
    const own = new URL(`${protocol}//${host}`);
    return this.#schemes.has(protocol) && port === own.port && canonical(hostname) === canonical(own.hostname);
  }
}

/** Listening on all addresses does not make them valid host names. */
const ANY_ADDRESS = new Set(["0.0.0.0", "::", "[::]"]);

const THIS_MACHINE = new Set(["localhost", "127.0.0.1", "[::1]"]);

const canonical = (hostname: string): string => (THIS_MACHINE.has(hostname) ? "localhost" : hostname);

const bare = (host: string): string => host.replace(/^\[(.*)\]$/, "$1");
