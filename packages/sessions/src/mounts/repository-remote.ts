import { lookup } from "node:dns/promises";
import { RequestError } from "@tandem/protocol";
import { CloneFailed, parseRemote } from "@tandem/workspace";

export interface RepositoryRemote {
  url: string;
  protocol: "https" | "http" | "file";
  /** Of a server, such as `https://github.com`. */
  origin?: string;
}

/** Checks the URL of a repository. `resolve` checks a folder of this machine. */
export async function repositoryRemote(
  url: string,
  resolve: (folder: string) => Promise<string>,
): Promise<RepositoryRemote> {
  // git gets the address as `URL` has read it, so that both mean the same host.
  if (isLoopback(url)) return { url: new URL(url).href, protocol: "http", origin: new URL(url).origin };
  const remote = parseRemote(url);
  switch (remote.protocol) {
    case "https":
      return { url: new URL(url).href, protocol: "https", origin: new URL(url).origin };
    case "file":
      return { url: await resolve(remote.path ?? remote.url), protocol: "file" };
    case "ssh":
      throw new RequestError(
        "invalid_request",
        `url: ${url} needs the server's own SSH keys, which sessions do not get.`,
        {
          fix: "Name the https URL with an authorization_token, or an environment with tandem.git.",
        },
      );
  }
}

/** Unencrypted, so only to a program of this machine. */
function isLoopback(url: string): boolean {
  const parsed = URL.parse(url);
  if (parsed?.protocol !== "http:" || parsed.username || parsed.password) return false;
  return ["127.0.0.1", "[::1]", "localhost"].includes(parsed.hostname);
}

/**
 * Resolves the host of a URL that the server's owner has not named, and refuses private addresses. Git gets exactly these
 * addresses, so that the name cannot resolve to others later.
 */
export async function publicAddress(url: string, isPrivate: (address: string) => boolean): Promise<string> {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replaceAll(/^\[|\]$/g, "");
  const addresses = await lookup(host, { all: true }).catch((cause: unknown) => {
    throw new CloneFailed("clone", `The host ${host} cannot be resolved.`, { cause });
  });
  if (addresses.length === 0 || addresses.some(({ address }) => isPrivate(address))) {
    throw new CloneFailed("forbidden", `${host} has a private address.`, {
      fix: "Let an admin of this server create the session.",
    });
  }
  const shown = addresses.map(({ address, family }) => (family === 6 ? `[${address}]` : address)).join(",");
  return `${host}:${port || (protocol === "https:" ? "443" : "80")}:${shown}`;
}
