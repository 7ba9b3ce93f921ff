import { z } from "zod";
import { SCOPES } from "../../words.ts";
import { tenantId } from "./tenants.ts";
import { deletedOf, listOf } from "../page.ts";

const token = z
  .object({
    id: z.string(),
    name: z.string().meta({ description: "`page` is a browser that signed in with a link without a person's name." }),
    scopes: z.array(z.enum(SCOPES)),
    tenant: z.string().meta({ description: "The person or program that it belongs to." }),
    created_at: z.string(),
    last_used_at: z.string().nullable(),
    is_own: z.boolean().meta({ description: "The token of this request." }),
  })
  .meta({ id: "Token" });
export type Token = z.infer<typeof token>;

export const tokensApi = {
  "tokens.list": { response: listOf(token) },
  "tokens.create": {
    body: z
      .strictObject({
        name: z.string().trim().min(1).max(100),
        scopes: z.array(z.enum(SCOPES)).min(1).max(3),
        tenant: tenantId.optional().describe("Only the operator may name a tenant other than their own."),
      })
      .meta({ id: "CreateToken" }),
    response: token.extend({ secret: z.string() }).meta({ id: "CreatedToken" }),
  },
  "tokens.delete": { response: deletedOf("token_deleted") },
};
