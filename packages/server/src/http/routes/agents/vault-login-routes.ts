import { jsonRoute, type Route } from "../../route.ts";

/** OAuth logins at MCP servers, from the page and from `tandem vaults login`. */
export const vaultLoginRoutes: Route[] = [
  jsonRoute("vaults.logins.create", {
    scope: "admin",
    at: "here",
    summary: "Start an OAuth login at an MCP server; its tokens become a credential of the vault",
    // The state is for this answer only.
    secretAnswer: true,
    handle: ({ engine, body, token, header }) => engine.vaultLogins.start(body, token, header("origin")),
  }),
  jsonRoute("vaults.logins.finish", {
    scope: "admin",
    at: "here",
    summary: "Finish an OAuth login with the code that the browser returned",
    handle: ({ engine, body, token }) => engine.vaultLogins.finish(body, token),
  }),
];
