import { RequestError } from "@tandem/protocol";
import type { ServerHealth } from "../../../server-health.ts";
import { type Call, jsonRoute, type Route } from "../../route.ts";

/** The state of the server itself. */
export const statusRoutes: Route[] = [
  jsonRoute("status.retrieve", {
    scope: "read",
    at: "here",
    extension: true,
    operator: true,
    summary: "Say who answers and who pays, whether that would work now, and what the server stands on; no secrets",
    handle: async (call) => serverHealthOf(call).status(),
  }),
  jsonRoute("status.examine", {
    scope: "admin",
    at: "here",
    extension: true,
    operator: true,
    summary: "Check all that `tandem doctor` checks",
    handle: async (call) => ({ data: await serverHealthOf(call).examine() }),
  }),
  jsonRoute("credentials.retrieve", {
    scope: "admin",
    at: "here",
    extension: true,
    operator: true,
    summary: "Say where credentials are and which are used, as `tandem credentials` does: kinds and sources, no values",
    handle: async (call) => serverHealthOf(call).credentials(),
  }),
];

function serverHealthOf({ health }: Pick<Call, "health">): ServerHealth {
  if (health) return health;
  throw new RequestError("not_supported", "This server does not tell how it is.", { fix: "Run `tandem status`." });
}
