import type { Target } from "./hosts/host-name.ts";

export type RefusalReason =
  /** No rule allows the host. A user can allow it. */
  | "not_allowed"
  /** The host is allowed, but not on this port. A user can allow it. */
  | "port"
  /** An IP address instead of a name. */
  | "ip_literal"
  /** The name leads to this machine or to a private network. */
  | "private_address"
  | "unresolvable"
  /** The TLS connection names another host than CONNECT did. */
  | "server_name"
  | "malformed";

/** A connection that the egress proxy refused. */
export interface EgressRefusal extends Target {
  reason: RefusalReason;
  /** A sentence for the model and the user. */
  message: string;
  fix: string;
}

const ALLOW = "ask the user to allow it on the session's page, or to add it to sandbox.hosts in tandem.yaml";

/** `isProxied`: connections to the host use the proxy of this machine's network. */
export function refusal(target: Target, reason: RefusalReason, { isProxied = false } = {}): EgressRefusal {
  const host = printable(target.host);
  const { message, fix } = wording(reason, host, target.port);
  return { host, port: target.port, reason, message, fix: isProxied && reason === "unresolvable" ? PROXY_NAMES : fix };
}

const PROXY_NAMES =
  "Check its spelling. If only the proxy of this machine resolves names, ask the user to set sandbox.proxyNames in tandem.yaml.";

function wording(reason: RefusalReason, host: string, port: number): { message: string; fix: string } {
  switch (reason) {
    case "not_allowed":
      return { message: `The sandbox does not allow the host ${host}.`, fix: `If the task needs it, ${ALLOW}.` };
    case "port":
      return {
        message: `The sandbox allows ${host}, but not its port ${port}.`,
        fix: `If the task needs it, ${ALLOW} as ${host}:${port}.`,
      };
    case "ip_literal":
      return {
        message: `The sandbox allows hosts by name only, and ${host} is an IP address.`,
        fix: "Use the host's name. For a port of the user's machine, ask the user to add it to sandbox.services.",
      };
    case "private_address":
      return {
        message: `The sandbox reaches public addresses only, and ${host} is one of this machine or of a private network.`,
        fix: "For a port of the user's machine, ask the user to add it to sandbox.services.",
      };
    case "server_name":
      return {
        message: `The sandbox refused a TLS connection that names ${host} in a tunnel to another host, or no host.`,
        fix: "Name the same host in CONNECT and in TLS (SNI).",
      };
    case "unresolvable":
      return { message: `The name ${host} cannot be resolved.`, fix: "Check its spelling." };
    case "malformed":
      return {
        message: "The sandbox's proxy cannot read the target of this request.",
        fix: "Use CONNECT host:port, or an http:// URL.",
      };
  }
}

/** The text comes from the agent, and is shown to the user. */
const printable = (host: string): string => host.slice(0, 253).replaceAll(/[^\w.:[\]-]/g, "?");

const REPEAT_MS = 60_000;
const PER_MINUTE = 30;

/** Reports each refusal once a minute, and not more than 30: an agent in a loop must not flood the session's log. */
export class RefusalReports {
  readonly #report: (refusal: EgressRefusal) => void;
  readonly #now: () => number;
  readonly #reported = new Map<string, number>();

  constructor(report: (refusal: EgressRefusal) => void, now: () => number) {
    this.#report = report;
    this.#now = now;
  }

  add(found: EgressRefusal): void {
    const now = this.#now();
    for (const [key, at] of this.#reported) if (now - at >= REPEAT_MS) this.#reported.delete(key);
    const key = `${found.reason} ${found.host}:${found.port}`;
    if (this.#reported.has(key) || this.#reported.size >= PER_MINUTE) return;
    this.#reported.set(key, now);
    this.#report(found);
  }
}
