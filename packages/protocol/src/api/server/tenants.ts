import { z } from "zod";
import { secretReference } from "../../config/secret-reference.ts";
import { deletedOf, listOf } from "../page.ts";

/** Also the name of its folder and, on Postgres, part of its schema name. */
export const tenantId = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/, "expected small letters, digits and hyphens, 40 at most, a letter first");

/** A tenant's quotas; null means unlimited. */
export const tenantQuotas = z
  .strictObject({
    turns: z.int().min(1).nullable().describe("Turns that run at once; more wait until one has ended."),
    sessions: z.int().min(0).nullable().describe("Sessions that are not archived."),
    usd_per_day: z.number().positive().nullable().describe("Money of a day at list price, all sessions together."),
    file_bytes: z.int().min(0).nullable().describe("Bytes of uploaded files that are kept."),
  })
  .meta({ id: "TenantQuotas" });
export type TenantQuotas = z.infer<typeof tenantQuotas>;

/** The credential for a tenant's sessions. Only the operator's own variables and files can provide it. */
export const tenantCredential = z
  .strictObject({
    auth: z.enum(["api_key", "oauth_token"]),
    secret: secretReference.describe("Source of the value: `env:NAME`, `file:path` or `command:…`."),
    base_url: z.url().optional().describe("Base URL, if not the service's."),
  })
  .meta({ id: "TenantCredential" });

/** A tenant's current use and quotas. */
const tenantUse = z
  .object({ running_turns: z.int(), open_sessions: z.int(), usd_today: z.number(), file_bytes: z.int() })
  .meta({ id: "TenantUse" });

export type TenantUse = z.infer<typeof tenantUse>;

/** A tenant as its own tokens see it. */
const ownTenant = z
  .object({
    id: z.string(),
    name: z.string(),
    is_operator: z.boolean().describe("Whether its admins run the server and the machine."),
    scopes: z.array(z.string()).describe("Of the request's token."),
    demo: z.boolean().describe("Whether this is the demo: scripted replies, nothing is billed."),
    quotas: tenantQuotas,
    use: tenantUse.nullable().describe("Null for the operator, whose usage is not counted."),
  })
  .meta({ id: "OwnTenant" });

/** A tenant as the operator sees it. */
const tenantView = z
  .object({
    id: z.string(),
    name: z.string(),
    created_at: z.string(),
    archived_at: z.string().nullable(),
    project: z.string().describe("The folder that its sessions work in."),
    home: z.string().describe("Where its state is kept."),
    credential: tenantCredential.nullable().describe("The source of its sessions' credential, never the credential."),
    quotas: tenantQuotas,
    tokens: z.int().describe("Number of its tokens."),
  })
  .meta({ id: "Tenant" });

export type TenantView = z.infer<typeof tenantView>;

const tenantInUse = tenantView.extend({ use: tenantUse }).meta({ id: "TenantInUse" });

const settings = z.strictObject({
  name: z.string().trim().min(1).max(100).optional().describe("For people; the page shows it."),
  credential: tenantCredential.nullable().optional().describe("Null: what its own tandem.yaml says."),
  quotas: tenantQuotas.partial().optional().describe("Absent quotas are unchanged."),
});

const createTenant = settings
  .extend({
    id: tenantId,
    project: z.string().min(1).optional().describe("A folder of the server's machine. Default: a new one."),
  })
  .meta({ id: "CreateTenant" });

export type CreateTenant = z.infer<typeof createTenant>;

const updateTenant = settings.meta({ id: "UpdateTenant" });

export type UpdateTenant = z.infer<typeof updateTenant>;

export const tenantsApi = {
  "tenant.retrieve": { response: ownTenant },
  "tenants.list": { response: listOf(tenantView) },
  "tenants.create": { body: createTenant, response: tenantView },
  "tenants.retrieve": { response: tenantInUse },
  "tenants.update": { body: updateTenant, response: tenantView },
  "tenants.archive": { response: tenantView },
  "tenants.restore": { response: tenantView },
  "tenants.delete": { response: deletedOf("tenant_deleted") },
};
