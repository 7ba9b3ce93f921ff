import type { IncomingMessage } from "node:http";

/**
 * The header of a forwarded request, with its id. The receiver handles such a request itself, even if its roster
 * differs, so that requests never loop. It grants no access: the token is checked as usual.
 */
export const FORWARDED_HEADER = "tandem-passed-on";

/** The id of a forwarded request; undefined if it comes from a client. */
export function forwardedId({ headers }: Pick<IncomingMessage, "headers">): string | undefined {
  const id = headers[FORWARDED_HEADER];
  return typeof id === "string" && /^req_[0-9a-f]{24}$/.test(id) ? id : undefined;
}
