import { SandboxError } from "../../sandbox-error.ts";
import { readAuthority, readHostName, type Target } from "./host-name.ts";

/** HTTP, HTTPS and SSH. A rule allows another port only by naming it. */
const DEFAULT_PORTS: ReadonlySet<number> = new Set([22, 80, 443]);

interface HostRule {
  host: string;
  isWildcard: boolean;
  port: number | undefined;
}

/** Whether a target is allowed. */
export type HostFilter = (target: Target) => boolean;

/** Allows every host, on the default ports. The egress proxy still refuses addresses that are not public. */
export const allHosts: HostFilter = ({ port }) => DEFAULT_PORTS.has(port);

/**
 * Compiles patterns: `example.com`, `*.example.com` (its subdomains, not itself) and `example.com:8443`. Without a port, a
 * pattern allows 80, 443 and 22. Throws a `SandboxError` for anything else.
 */
export function hostRules(patterns: readonly string[]): HostFilter {
  const rules = patterns.map(readPattern);
  return ({ host, port }) => {
    const name = readHostName(host);
    return name.kind === "name" && rules.some((rule) => matches(rule, name.host, port));
  };
}

function matches(rule: HostRule, host: string, port: number): boolean {
  if (rule.port === undefined ? !DEFAULT_PORTS.has(port) : rule.port !== port) return false;
  return rule.isWildcard ? host.endsWith(`.${rule.host}`) : host === rule.host;
}

function readPattern(pattern: string): HostRule {
  const text = pattern.trim();
  const isWildcard = text.startsWith("*.");
  const rest = isWildcard ? text.slice(2) : text;
  if (rest.includes("://") || rest.includes("/")) throw invalid(pattern, "it is a URL", "Write the host only");
  const [, bare, port] = /^(.*?)(?::(\d+))?$/s.exec(rest)!;
  const name = readHostName(bare!);
  if (name.kind === "address") {
    throw invalid(pattern, "it is an IP address", "Name the host; for a port of this machine, use sandbox.services");
  }
  if (name.kind === "invalid") {
    const why = text === "*" ? "it would allow every host" : "it is not a host name";
    throw invalid(pattern, why, text === "*" ? "For all hosts, use unrestricted networking" : "Correct it");
  }
  if (!name.host.includes(".")) {
    const why = isWildcard ? "it would allow a whole top-level domain" : "the sandbox reaches public hosts only";
    throw invalid(pattern, why, "Write a full domain");
  }
  if (port === undefined) return { host: name.host, isWildcard, port: undefined };
  const authority = readAuthority(`${name.host}:${port}`);
  if (!authority) throw invalid(pattern, "ports are numbers from 1 to 65535", "Correct the port");
  return { host: name.host, isWildcard, port: authority.port };
}

const invalid = (pattern: string, why: string, fix: string): SandboxError =>
  new SandboxError("sandbox_host_pattern", `${JSON.stringify(pattern)} is not a valid host pattern: ${why}.`, {
    fix: `${fix}, such as example.com, *.example.com or example.com:8443.`,
  });
