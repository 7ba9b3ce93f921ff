import type { IncomingHttpHeaders } from "node:http";
import { RequestError } from "@tandem/protocol";
import { isLoopback, type ServerSettings } from "./settings.ts";

/**
 * Keeps web pages out. A page of a stranger can make a browser on this machine send requests here: under a name of its own
 * that it lets point to 127.0.0.1 (DNS rebinding), or straight across origins. Both are refused before anything is looked
 * at. Requests that are not a browser's have no origin; that grants nothing, they need their token like all others.
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

  /** Throws if the request must not come in. Returns the foreign origin that it comes from, if that has been allowed. */
  check(headers: IncomingHttpHeaders): string | undefined {
    const host = headers.host ?? "";
    if (!this.#knowsHost(host)) {
      throw new RequestError("forbidden", "The server does not go by this name.", {
        fix: "Call it by an address of this machine, or allow the name in its settings.",
      });
    }
    const { origin } = headers;
    if (origin !== undefined && this.#origins.has(origin)) return origin;
    const site = headers["sec-fetch-site"];
    const isForeign =
      (origin !== undefined && !this.#isOwn(origin, host)) ||
      (site !== undefined && site !== "same-origin" && site !== "none");
    if (isForeign) throw new RequestError("forbidden", "Web pages of other origins are not let in.");
    return undefined;
  }

  #knowsHost(host: string): boolean {
    if (!URL.canParse(`http://${host}`)) return false;
    const { hostname, pathname, username } = new URL(`http://${host}`);
    if (pathname !== "/" || username !== "") return false;
    return isLoopback(hostname) || this.#hosts.has(bare(hostname));
  }

  /** The page that this server itself may serve: same name and same port. Other ports of localhost are others. */
  #isOwn(origin: string, host: string): boolean {
    if (!URL.canParse(origin)) return false;
    const { protocol, host: originHost } = new URL(origin);
    return this.#schemes.has(protocol) && originHost === new URL(`${protocol}//${host}`).host;
  }
}

/** To listen on all addresses is not to go by their name. */
const ANY_ADDRESS = new Set(["0.0.0.0", "::", "[::]"]);

const bare = (host: string): string => host.replace(/^\[(.*)\]$/, "$1");
