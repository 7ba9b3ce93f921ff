import type { HttpBindings } from "@hono/node-server";
import type { TokenRow } from "@tandem/storage";

/** A request that has passed the guard and the token check. */
export interface AuthenticatedRequest extends Pick<HttpBindings, "incoming" | "outgoing"> {
  token: TokenRow;
}

/** A request that matched a route. */
export interface RoutedRequest extends AuthenticatedRequest {
  params: Record<string, string>;
  search: URLSearchParams;
  /** The monotonic time at which it arrived at this process. */
  begun: number;
  /** Set if the body was read already, to decide which process handles the request. */
  body?: Buffer;
}
