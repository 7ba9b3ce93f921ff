import { RequestError, tenantId } from "@tandem/protocol";
import { SCOPES, type TokenRow } from "@tandem/storage";
import { z } from "zod";
import { createToken } from "../create-token.ts";
import { jsonRoute, type Route } from "../route.ts";
import { deletedOf, listOf } from "../schemas/page.ts";

const token = z
  .object({
    id: z.string(),
    name: z.string().meta({ description: "`page` is a browser that has signed in by a link that is nobody's." }),
    scopes: z.array(z.enum(SCOPES)),
    tenant: z.string().meta({ description: "Whom it belongs to." }),
    created_at: z.string(),
    last_used_at: z.string().nullable(),
    is_own: z.boolean().meta({ description: "The one that this request was made with." }),
  })
  .meta({ id: "Token" });

/** Who may call the server. Only for those who may do all. */
export const tokenRoutes: Route[] = [
  jsonRoute({
    name: "tokens.list",
    method: "GET",
    path: "/v1/tokens",
    scope: "admin",
    at: "here",
    extension: true,
    summary: "List tokens without their secrets, the newest first",
    response: listOf(token),
    handle: async ({ tokens, token: own }) => {
      const rows = await tokens.list();
      return { data: rows.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt)).map((row) => view(row, own)) };
    },
  }),
  jsonRoute({
    name: "tokens.create",
    method: "POST",
    path: "/v1/tokens",
    scope: "admin",
    at: "here",
    extension: true,
    summary: "Create a token; its secret is in this answer and nowhere else",
    body: z
      .strictObject({
        name: z.string().trim().min(1).max(100),
        scopes: z.array(z.enum(SCOPES)).min(1).max(3),
        tenant: tenantId.optional().describe("Whom it is for; only the operator may name another than their own."),
      })
      .meta({ id: "CreateToken" }),
    response: token.extend({ secret: z.string() }).meta({ id: "CreatedToken" }),
    handle: async ({ engine, tokens, token: own, office, body: { name, scopes, tenant = own.tenant } }) => {
      if (tenant !== own.tenant) {
        if (!office) throw new RequestError("not_found", `There is no tenant ${tenant}.`);
        await office.get(tenant);
      }
      const { secret, token: row } = await createToken(tokens, { name, scopes: [...new Set(scopes)], tenant });
      const details = { id: row.id, name, scopes: row.scopes, ...(tenant !== own.tenant && { tenant }) };
      await engine.audit.note({ kind: "token.created", actor: own.name, details });
      return { ...view(row, own), secret };
    },
  }),
  jsonRoute({
    name: "tokens.delete",
    method: "DELETE",
    path: "/v1/tokens/:token_id",
    scope: "admin",
    at: "here",
    extension: true,
    summary: "Revoke a token: from now on the server refuses it; streams that it has open end with the next heartbeat",
    response: deletedOf("token_deleted"),
    handle: async ({ engine, tokens, token: own, params }) => {
      const row = (await tokens.list()).find(({ id }) => id === params.token_id);
      if (!row) throw new RequestError("not_found", `There is no token ${params.token_id}.`);
      await tokens.delete(row.id);
      await engine.audit.note({ kind: "token.revoked", actor: own.name, details: { id: row.id, name: row.name } });
      return { type: "token_deleted" as const, id: row.id };
    },
  }),
];

const view = ({ id, name, scopes, tenant, createdAt, lastUsedAt }: TokenRow, own: TokenRow): z.input<typeof token> => ({
  id,
  name,
  scopes: [...scopes],
  tenant,
  created_at: createdAt,
  last_used_at: lastUsedAt,
  is_own: id === own.id,
});
