import { RequestError } from "@tandem/protocol";
import type { ServerHealth } from "../../../server-health.ts";
import { type Call, jsonRoute, type Route } from "../../route.ts";

/** The state of the server itself. */
export const statusRoutes: Route[] = [
  jsonRoute("status.retrieve", {
    scope: "read",
    at: "here",
    operator: true,
    summary: "Show the backends, their billing and whether they work now, and the server's environment; no secrets",
    handle: async (call) => serverHealthOf(call).status(),
  }),
  jsonRoute("status.examine", {
    scope: "admin",
    at: "here",
    operator: true,
    summary: "Run the checks of `tandem doctor`",
    handle: async (call) => ({ data: await serverHealthOf(call).examine() }),
  }),
  jsonRoute("credentials.retrieve", {
    scope: "admin",
    at: "here",
    operator: true,
    summary:
      "List where credentials are and which are used, as `tandem credentials` does: kinds and sources, no values",
    handle: async (call) => serverHealthOf(call).credentials(),
  }),
];

function serverHealthOf({ health }: Pick<Call, "health">): ServerHealth {
  if (health) return health;
  throw new RequestError("not_supported", "This server does not tell how it is.", { fix: "Run `tandem status`." });
}
