import { z } from "zod";
import { secretReference } from "../config/secret-reference.ts";

/** Also the name of its folder and, on Postgres, part of its schema's. */
export const tenantId = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/, "expected small letters, digits and hyphens, 40 at most, a letter first");

/** What a tenant may take; what is null has no limit. */
export const tenantQuotas = z
  .strictObject({
    turns: z.int().min(1).nullable().describe("Turns that run at once; more wait until one has ended."),
    sessions: z.int().min(0).nullable().describe("Sessions that are not archived."),
    usd_per_day: z.number().positive().nullable().describe("Money of a day at list price, all sessions together."),
    file_bytes: z.int().min(0).nullable().describe("Bytes of uploaded files that are kept."),
  })
  .meta({ id: "TenantQuotas" });
export type TenantQuotas = z.infer<typeof tenantQuotas>;

/** Which credential sessions of a tenant get. The operator's own variables and files are read for it, and nothing else. */
export const tenantCredential = z
  .strictObject({
    auth: z.enum(["api_key", "oauth_token"]),
    secret: secretReference.describe("Where it is kept: `env:NAME`, `file:path` or `command:…`."),
    base_url: z.url().optional().describe("Another address than the service's own."),
  })
  .meta({ id: "TenantCredential" });
export type TenantCredential = z.infer<typeof tenantCredential>;
