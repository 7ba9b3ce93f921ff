import { isIP } from "node:net";
import { domainToASCII } from "node:url";

/** A host as a client wrote it. */
export type HostName =
  /** Lower case, IDNs in punycode, without a trailing dot. */
  | { kind: "name"; host: string }
  /** An IP address in any spelling, such as `0x7f.1`. */
  | { kind: "address" }
  | { kind: "invalid" };

export interface Target {
  host: string;
  port: number;
}

const MAX_NAME = 253;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** Characters that some parser treats as a separator or an escape. `URL` would decode or cut at them. */
const SEPARATORS = /[\s\p{Cc}%@/\\?#[\]:,;"'<>^`{|}]/u;

/** Normalizes a DNS name, and tells IP addresses apart: those are never names, however they are spelled. */
export function readHostName(text: string): HostName {
  if (isIP(text.replace(/^\[(.*)\]$/, "$1").replace(/%.*$/s, "")) !== 0) return { kind: "address" };
  if (text === "" || text.length > MAX_NAME + 1 || SEPARATORS.test(text)) return { kind: "invalid" };
  // Normalizes numbers, too: an address comes out with four decimal parts.
  const ascii = domainToASCII(text).replace(/\.$/, "");
  const labels = (ascii || text.toLowerCase().replace(/\.$/, "")).split(".");
  if (isIP(ascii) !== 0 || /^(?:\d+|0x[\da-f]*)$/.test(labels.at(-1)!)) return { kind: "address" };
  if (ascii.length > MAX_NAME || !labels.every((label) => LABEL.test(label)) || ascii === "")
    return { kind: "invalid" };
  return { kind: "name", host: ascii };
}

/** Splits `host:port`. Undefined if the text is anything else, such as one with a user name. */
export function readAuthority(text: string, defaultPort?: number): { host: string; port: number } | undefined {
  const [, host, digits] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const port = digits === undefined ? defaultPort : Number(digits);
  if (!host || port === undefined || port < 1 || port > 65_535) return undefined;
  return { host, port };
}
