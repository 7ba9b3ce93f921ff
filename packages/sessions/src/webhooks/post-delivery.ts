import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { isPrivateAddress } from "@tandem/sandbox";
import { externalDeadline } from "../host/external-deadline.ts";

/** From the first byte that is sent to the status that the endpoint answers. */
const ANSWER_MS = 15_000;

export type PostResult =
  | { type: "answered"; status: number }
  | { type: "private_address"; detail: string }
  | { type: "failed"; detail: string };

export interface PostOptions {
  /** Refuse loopback, private and reserved addresses. */
  publicOnly: boolean;
  signal: AbortSignal;
  lookup?: typeof systemLookup;
}

class PrivateAddress extends Error {}

/**
 * Sends a delivery. It follows no redirects: a signed request goes to its endpoint only. The addresses are checked where the
 * socket gets them, so that a name cannot resolve to another address between the check and the connection. The answer's body is
 * not read.
 */
export async function postDelivery(
  address: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  { publicOnly, signal, lookup = systemLookup }: PostOptions,
): Promise<PostResult> {
  const url = new URL(address);
  const literal = url.hostname.replaceAll(/^\[|\]$/g, "");
  // A socket resolves only names. `URL` has normalized the spelling of an address.
  if (publicOnly && isIP(literal) !== 0 && isPrivateAddress(literal)) {
    return { type: "private_address", detail: notPublic(literal) };
  }
  const checked: LookupFunction = (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const found = publicOnly ? addresses.find((each) => isPrivateAddress(each.address)) : undefined;
      if (found) return callback(new PrivateAddress(notPublic(`${hostname} is ${found.address}, which`)), []);
      const [first] = addresses;
      if (options.all || !first) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  // Not at the start of every command: importing it loads all of Node's network.
  const { request: send } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  return new Promise((resolve) => {
    const request = send(url, {
      method: "POST",
      // No pool: a kept connection would skip the check, and an endpoint gets few requests.
      agent: false,
      lookup: checked,
      signal: AbortSignal.any([signal, externalDeadline(ANSWER_MS)]),
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        "user-agent": "tandem",
        ...headers,
      },
    });
    request.on("response", (response) => {
      // The body may be endless.
      response.on("error", () => undefined);
      response.destroy();
      resolve({ type: "answered", status: response.statusCode ?? 0 });
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      if (error instanceof PrivateAddress) resolve({ type: "private_address", detail: error.message });
      else resolve({ type: "failed", detail: reasonOf(error) });
    });
    request.end(body);
  });
}

/** `AggregateError` of several addresses has no message of its own. */
function reasonOf(error: NodeJS.ErrnoException): string {
  if (error.name === "AbortError" || error.name === "TimeoutError") return `no answer within ${ANSWER_MS / 1_000} s`;
  return error.message === "" ? (error.code ?? "the connection failed") : error.message;
}

const notPublic = (which: string): string => `${which} is a loopback, private or reserved address`;
