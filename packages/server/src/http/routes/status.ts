import { RequestError } from "@tandem/protocol";
import { type Caretaker, finding, serverStatus } from "../../caretaker.ts";
import { credentialsReport } from "../../credentials-report.ts";
import { type Call, jsonRoute, type Route } from "../route.ts";
import { listOf } from "../schemas/page.ts";

/** How the server itself is. */
export const statusRoutes: Route[] = [
  jsonRoute({
    name: "status.retrieve",
    method: "GET",
    path: "/v1/status",
    scope: "read",
    at: "here",
    extension: true,
    operator: true,
    summary: "Say who answers and who pays, whether that would work now, and what the server stands on; no secrets",
    response: serverStatus,
    handle: async (call) => caretakerOf(call).status(),
  }),
  jsonRoute({
    name: "status.examine",
    method: "POST",
    path: "/v1/status/examine",
    scope: "admin",
    at: "here",
    extension: true,
    operator: true,
    summary: "Check all that `tandem doctor` checks",
    response: listOf(finding),
    handle: async (call) => ({ data: await caretakerOf(call).examine() }),
  }),
  jsonRoute({
    name: "credentials.retrieve",
    method: "GET",
    path: "/v1/credentials",
    scope: "admin",
    at: "here",
    extension: true,
    operator: true,
    summary: "Say where credentials are and which are used, as `tandem credentials` does: kinds and sources, no values",
    response: credentialsReport,
    handle: async (call) => caretakerOf(call).credentials(),
  }),
];

function caretakerOf({ caretaker }: Pick<Call, "caretaker">): Caretaker {
  if (caretaker) return caretaker;
  throw new RequestError("not_supported", "This server does not tell how it is.", { fix: "Run `tandem status`." });
}
