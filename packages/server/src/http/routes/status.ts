import { RequestError } from "@tandem/protocol";
import type { Caretaker } from "../../caretaker.ts";
import { type Call, jsonRoute, type Route } from "../route.ts";

/** How the server itself is. */
export const statusRoutes: Route[] = [
  jsonRoute("status.retrieve", {
    scope: "read",
    at: "here",
    extension: true,
    operator: true,
    summary: "Say who answers and who pays, whether that would work now, and what the server stands on; no secrets",
    handle: async (call) => caretakerOf(call).status(),
  }),
  jsonRoute("status.examine", {
    scope: "admin",
    at: "here",
    extension: true,
    operator: true,
    summary: "Check all that `tandem doctor` checks",
    handle: async (call) => ({ data: await caretakerOf(call).examine() }),
  }),
  jsonRoute("credentials.retrieve", {
    scope: "admin",
    at: "here",
    extension: true,
    operator: true,
    summary: "Say where credentials are and which are used, as `tandem credentials` does: kinds and sources, no values",
    handle: async (call) => caretakerOf(call).credentials(),
  }),
];

function caretakerOf({ caretaker }: Pick<Call, "caretaker">): Caretaker {
  if (caretaker) return caretaker;
  throw new RequestError("not_supported", "This server does not tell how it is.", { fix: "Run `tandem status`." });
}
