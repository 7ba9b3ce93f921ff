import type { Fit } from "./command-pattern.ts";

/** Returns an error text if the pattern is invalid. */
export function checkDomainPattern(pattern: string): string | undefined {
  if (pattern === "*") return undefined;
  const name = pattern.replace(/^\*\./, "");
  if (/[/:@?#\s*]/.test(name) || hostOf(`http://${name}/`) === undefined) {
    return "it has to be a domain such as `example.com` or `*.example.com`, without scheme, port and path";
  }
  return undefined;
}

/** `*.example.com` matches subdomains. Deny and ask rules (`below`) always include subdomains. */
export function isDomain(pattern: string, host: string, below: boolean): boolean {
  if (pattern === "*") return true;
  const name = hostOf(`http://${pattern.replace(/^\*\./, "")}/`) ?? "";
  if (host.endsWith(`.${name}`)) return below || pattern.startsWith("*.");
  return host === name && (below || !pattern.startsWith("*."));
}

/** The normalised host of a URL; undefined if the text is no http(s) URL. */
export function hostOf(address: string): string | undefined {
  try {
    const { hostname, protocol } = new URL(address);
    if (protocol !== "http:" && protocol !== "https:") return undefined;
    const host = hostname.replace(/\.+$/, "");
    return host === "" ? undefined : host;
  } catch {
    return undefined;
  }
}

/** Hosts that a word of a command names, as part of a URL or alone. */
export function hostsIn(text: string): string[] {
  const found = text.match(/[a-z][a-z0-9+.-]*:\/\/[^\s'"]+|(?:[\p{L}\p{N}_-]+\.)+[\p{L}\p{N}-]+\.?/giu) ?? [];
  return found.flatMap((part) => {
    const host = hostOf(part.includes("://") ? part.replace(/^[^:]+:/, "http:") : `http://${part}/`);
    return host === undefined ? [] : [host];
  });
}

/** A web search stays inside `allowed_domains`, or may reach every domain except `blocked_domains`. */
export function searchFit(pattern: string, input: Record<string, unknown>, restricts: boolean): Fit {
  const list = (key: string): string[] => {
    const value = input[key];
    return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
  };
  const asHosts = (names: string[]) => names.map((name) => hostOf(`http://${name}/`) ?? name);
  const within = asHosts(list("allowed_domains"));
  if (within.length > 0) {
    const matching = within.filter((host) => isDomain(pattern, host, restricts));
    return restricts ? (matching.length > 0 ? "yes" : "no") : matching.length === within.length ? "yes" : "no";
  }
  if (!restricts) return pattern === "*" ? "yes" : "no";
  const name = pattern.replace(/^\*\./, "");
  return pattern !== "*" && asHosts(list("blocked_domains")).includes(name) ? "no" : "maybe";
}
