import { promises as dns } from "node:dns";
import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { type EgressRefusal, refusal } from "./egress-refusal.ts";
import { readHostName, type Target } from "./hosts/host-name.ts";
import type { HostFilter } from "./hosts/host-rules.ts";
import { isPrivateAddress } from "./hosts/private-address.ts";
import type { ProxyRoute, UpstreamProxy } from "./upstream-proxy.ts";

/** Resolves a name to all its IP addresses. An empty list: the name does not exist. */
export type ResolveName = (host: string) => Promise<readonly string[]>;

/** A target whose addresses were checked. Connections go to these addresses, without another lookup. */
export interface CheckedTarget extends Target {
  addresses: readonly string[];
  /** Connections go through this proxy, to the name instead of an address if `byName`. */
  via?: { proxy: UpstreamProxy; byName: boolean };
}

export type TargetCheck = { ok: true; target: CheckedTarget } | { ok: false; refusal: EgressRefusal };

export interface TargetRules {
  isAllowed: HostFilter;
  resolve: ResolveName;
  /** Whether an address is not on the internet. */
  isPrivate: (address: string) => boolean;
  proxy?: UpstreamOptions | undefined;
}

/** The proxy that leads out of this machine's network. */
export interface UpstreamOptions {
  route: ProxyRoute;
  /** It gets names, and may be the only one that resolves them. Otherwise it gets addresses that were checked. */
  byName: boolean;
}

/**
 * Checks the name against the rules, then every address that it resolves to. A name that is not allowed is not resolved, because
 * a lookup would carry data to the owner of the domain.
 */
export async function checkTarget(given: Target, rules: TargetRules): Promise<TargetCheck> {
  const name = readHostName(given.host);
  const { port } = given;
  if (name.kind === "address") return { ok: false, refusal: refusal(given, "ip_literal") };
  if (name.kind === "invalid") return { ok: false, refusal: refusal(given, "malformed") };
  const { host } = name;
  const proxy = rules.proxy?.route({ host, port });
  const byName = rules.proxy?.byName === true;
  const refuse = (reason: EgressRefusal["reason"]): TargetCheck => ({
    ok: false,
    refusal: refusal({ host, port }, reason, { isProxied: proxy !== undefined }),
  });
  if (!host.includes(".")) return refuse("private_address");
  if (!rules.isAllowed({ host, port })) return refuse(rules.isAllowed({ host, port: 443 }) ? "port" : "not_allowed");
  const addresses = await rules.resolve(host).catch(() => []);
  if (addresses.length === 0 && !(proxy && byName)) return refuse("unresolvable");
  // One private address among public ones is an attempt to get to it by a retry.
  if (addresses.some((address) => isIP(address) === 0 || rules.isPrivate(address))) return refuse("private_address");
  return { ok: true, target: { host, port, addresses, ...(proxy && { via: { proxy, byName } }) } };
}

/** Private and reserved addresses, and those of this machine's own interfaces: its services listen there, too. */
export function isUnreachable(address: string): boolean {
  if (isPrivateAddress(address)) return true;
  const own = new BlockList();
  for (const each of Object.values(networkInterfaces()).flat()) {
    if (each) own.addAddress(each.address, each.family === "IPv4" ? "ipv4" : "ipv6");
  }
  return own.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}

/**
 * Asks the DNS servers of the host. Unlike the system's `getaddrinfo`, this does not occupy threads that the server needs for its
 * files, and it never adds a search domain.
 */
export function createResolver(servers?: readonly string[]): ResolveName {
  const resolver = new dns.Resolver({ timeout: 3_000, tries: 2 });
  if (servers) resolver.setServers(servers);
  return async (host) => {
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return found.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  };
}
