import { jsonRoute, type Route } from "../../route.ts";

/** Hosts that sandboxed sessions may connect to, beyond the configuration. */
export const sandboxRoutes: Route[] = [
  jsonRoute("sandbox.hosts.list", {
    scope: "read",
    at: "here",
    summary: "List allowed and refused hosts of sandboxed sessions",
    handle: ({ engine, query }) => engine.sandboxHosts.list(query.session_id),
  }),
  jsonRoute("sandbox.hosts.create", {
    scope: "admin",
    at: "here",
    summary: "Allow a host once, for a session or in a folder; it applies to the next connection",
    handle: ({ engine, token, body: { host, scope, session_id: session, folder } }) =>
      engine.sandboxHosts.allow({ host, scope, session, folder, by: token.name }),
  }),
  jsonRoute("sandbox.hosts.delete", {
    scope: "admin",
    at: "here",
    summary: "Revoke an allowed host",
    handle: async ({ engine, params, token }) => {
      await engine.sandboxHosts.revoke(params.sandbox_host_id, token.name);
      return { type: "sandbox_host_deleted" as const, id: params.sandbox_host_id };
    },
  }),
];
