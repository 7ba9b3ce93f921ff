import type { IncomingMessage } from "node:http";

/**
 * On a request that another process of the fleet has passed on, with the id that it has there. It is done where it arrives,
 * whatever anybody knows meanwhile: so no request goes around in circles. It opens nothing: the token is asked for as ever.
 */
export const PASSED_ON = "tandem-passed-on";

/** The id under which a request that was passed on is known; undefined for one that comes from a client. */
export function passedOnAs({ headers }: Pick<IncomingMessage, "headers">): string | undefined {
  const id = headers[PASSED_ON];
  return typeof id === "string" && /^req_[0-9a-f]{24}$/.test(id) ? id : undefined;
}
