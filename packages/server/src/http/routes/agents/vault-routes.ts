import { nextPage, toPageQuery } from "../../request/page-query.ts";
import { jsonRoute, type Route } from "../../route.ts";

/** Credentials for MCP servers and programs of sessions. Answers never contain a secret. */
export const vaultRoutes: Route[] = [
  jsonRoute("vaults.create", {
    scope: "admin",
    at: "here",
    summary: "Create a vault: credentials that sessions may use",
    handle: ({ engine, body, token, newId }) => engine.vaults.create(body, token.name, newId("vault")),
    find: ({ engine, newId }) => engine.vaults.get(newId("vault")),
  }),
  jsonRoute("vaults.list", {
    scope: "read",
    at: "here",
    summary: "List vaults, newest first",
    handle: async ({ engine, query }) => nextPage(await engine.vaults.list(toPageQuery(query))),
  }),
  jsonRoute("vaults.retrieve", {
    scope: "read",
    at: "here",
    summary: "Retrieve a vault",
    handle: ({ engine, params }) => engine.vaults.get(params.vault_id),
  }),
  jsonRoute("vaults.update", {
    scope: "admin",
    at: "here",
    summary: "Change the name or metadata of a vault",
    handle: ({ engine, params, body, token }) => engine.vaults.update(params.vault_id, body, token.name),
  }),
  jsonRoute("vaults.archive", {
    scope: "admin",
    at: "here",
    summary: "Archive a vault: delete all its secrets, keep its records",
    handle: ({ engine, params, token }) => engine.vaults.archive(params.vault_id, token.name),
  }),
  jsonRoute("vaults.delete", {
    scope: "admin",
    at: "here",
    summary: "Delete a vault with its credentials",
    handle: async ({ engine, params, token }) => {
      await engine.vaults.delete(params.vault_id, token.name);
      return { type: "vault_deleted" as const, id: params.vault_id };
    },
  }),
  jsonRoute("vaults.credentials.create", {
    scope: "admin",
    at: "here",
    summary: "Add a credential to a vault; its secrets are encrypted and never returned",
    handle: ({ engine, params, body, token, newId }) =>
      engine.vaults.credentials.create(params.vault_id, body, token.name, newId("vaultCredential")),
    find: ({ engine, params, newId }) => engine.vaults.credentials.get(params["vault_id"]!, newId("vaultCredential")),
  }),
  jsonRoute("vaults.credentials.list", {
    scope: "read",
    at: "here",
    summary: "List the credentials of a vault, newest first, without their secrets",
    handle: async ({ engine, params, query }) =>
      nextPage(await engine.vaults.credentials.list(params.vault_id, toPageQuery(query))),
  }),
  jsonRoute("vaults.credentials.retrieve", {
    scope: "read",
    at: "here",
    summary: "Retrieve a credential without its secrets",
    handle: ({ engine, params }) => engine.vaults.credentials.get(params.vault_id, params.credential_id),
  }),
  jsonRoute("vaults.credentials.update", {
    scope: "admin",
    at: "here",
    summary: "Change a credential, such as its tokens; running sessions use them from their next request on",
    handle: ({ engine, params, body, token }) =>
      engine.vaults.credentials.update(params.vault_id, params.credential_id, body, token.name),
  }),
  jsonRoute("vaults.credentials.archive", {
    scope: "admin",
    at: "here",
    summary: "Archive a credential: delete its secrets, keep its record",
    handle: ({ engine, params, token }) =>
      engine.vaults.credentials.archive(params.vault_id, params.credential_id, token.name),
  }),
  jsonRoute("vaults.credentials.delete", {
    scope: "admin",
    at: "here",
    summary: "Delete a credential",
    handle: async ({ engine, params, token }) => {
      await engine.vaults.credentials.delete(params.vault_id, params.credential_id, token.name);
      return { type: "vault_credential_deleted" as const, id: params.credential_id };
    },
  }),
  jsonRoute("vaults.credentials.mcpOAuthValidate", {
    scope: "run",
    at: "here",
    summary: "Try a credential at its MCP server",
    longRunning: true,
    handle: ({ engine, params }) => engine.vaults.credentials.validate(params.vault_id, params.credential_id),
  }),
];
