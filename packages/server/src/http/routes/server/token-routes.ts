import { RequestError, type Token } from "@tandem/protocol";
import { type TokenRow } from "@tandem/storage";
import { createToken } from "../../access/create-token.ts";
import { jsonRoute, type Route } from "../../route.ts";

/** Access tokens. They need `admin`. */
export const tokenRoutes: Route[] = [
  jsonRoute("tokens.list", {
    scope: "admin",
    at: "here",
    summary: "List tokens without their secrets, newest first",
    handle: async ({ tokens, token: own }) => {
      const rows = (await tokens.list()).filter(({ worker }) => !worker);
      return { data: rows.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt)).map((row) => view(row, own)) };
    },
  }),
  jsonRoute("tokens.create", {
    scope: "admin",
    at: "here",
    summary: "Create a token; only this response contains its secret",
    secretAnswer: true,
    handle: async ({ engine, tokens, token: own, tenantService, body: { name, scopes, tenant = own.tenant } }) => {
      if (tenant !== own.tenant) {
        if (!tenantService) throw new RequestError("not_found", `There is no tenant ${tenant}.`);
        await tenantService.get(tenant);
      }
      const { secret, token: row } = await createToken(tokens, { name, scopes: [...new Set(scopes)], tenant });
      const details = { id: row.id, name, scopes: row.scopes, ...(tenant !== own.tenant && { tenant }) };
      await engine.audit.note({ kind: "token.created", actor: own.name, details });
      return { ...view(row, own), secret };
    },
  }),
  jsonRoute("tokens.delete", {
    scope: "admin",
    at: "here",
    summary: "Revoke a token: the server refuses it from now on; its open streams end with the next heartbeat",
    handle: async ({ engine, tokens, token: own, params }) => {
      const row = (await tokens.list()).find(({ id, worker }) => id === params.token_id && !worker);
      if (!row) throw new RequestError("not_found", `There is no token ${params.token_id}.`);
      await tokens.delete(row.id);
      await engine.audit.note({ kind: "token.revoked", actor: own.name, details: { id: row.id, name: row.name } });
      return { type: "token_deleted" as const, id: row.id };
    },
  }),
];

const view = ({ id, name, scopes, tenant, createdAt, lastUsedAt }: TokenRow, own: TokenRow): Token => ({
  id,
  name,
  scopes: [...scopes],
  tenant,
  created_at: createdAt,
  last_used_at: lastUsedAt,
  is_own: id === own.id,
});
