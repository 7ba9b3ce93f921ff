import { tenantCredential, tenantId, tenantQuotas, type TenantQuotas } from "@tandem/protocol";
import { z } from "zod";

/** What a tenant takes now, and may. */
const tenantUse = z
  .object({
    running_turns: z.int(),
    open_sessions: z.int(),
    usd_today: z.number(),
    file_bytes: z.int(),
  })
  .meta({ id: "TenantUse" });
export type TenantUse = z.infer<typeof tenantUse>;

/** Asks what a tenant takes and may. */
export type TenantStanding = () => Promise<{ quotas: TenantQuotas; use: TenantUse }>;

/** A tenant as its own tokens see it. */
export const ownTenant = z
  .object({
    id: z.string(),
    name: z.string(),
    is_operator: z.boolean().describe("Whether its admins run the server, with all that is the machine's own."),
    scopes: z.array(z.string()).describe("Of the token that asks."),
    quotas: tenantQuotas,
    use: tenantUse.nullable().describe("Null where nothing is counted: for the operator."),
  })
  .meta({ id: "OwnTenant" });

/** A tenant as the operator sees it. */
export const tenantView = z
  .object({
    id: z.string(),
    name: z.string(),
    created_at: z.string(),
    archived_at: z.string().nullable(),
    project: z.string().describe("The folder that its sessions work in."),
    home: z.string().describe("Where its state is kept."),
    credential: tenantCredential.nullable().describe("Where its sessions' comes from, never what it is."),
    quotas: tenantQuotas,
    tokens: z.int().describe("How many it has."),
  })
  .meta({ id: "Tenant" });
export type TenantView = z.infer<typeof tenantView>;

export const tenantInUse = tenantView.extend({ use: tenantUse }).meta({ id: "TenantInUse" });

const settings = z.strictObject({
  name: z.string().trim().min(1).max(100).optional().describe("For people; the page shows it."),
  credential: tenantCredential.nullable().optional().describe("Null: what its own tandem.yaml says."),
  quotas: tenantQuotas.partial().optional().describe("What is left out stays as it is."),
});

export const createTenant = settings
  .extend({
    id: tenantId,
    project: z.string().min(1).optional().describe("A folder of the server's machine; one of its own where left out."),
  })
  .meta({ id: "CreateTenant" });
type CreateTenant = z.infer<typeof createTenant>;

export const updateTenant = settings.meta({ id: "UpdateTenant" });
export type UpdateTenant = z.infer<typeof updateTenant>;

/** Keeps the tenants of a server. The operator's alone. An id that nobody has is `not_found`. */
export interface TenantOffice {
  /** By id; without the default one, whose the server is. */
  list(): Promise<TenantView[]>;
  get(id: string): Promise<TenantView & { use: TenantUse }>;
  create(params: CreateTenant, by: string): Promise<TenantView>;
  update(id: string, params: UpdateTenant, by: string): Promise<TenantView>;
  /** Its tokens are refused from now on and its turns end; all that it has is kept. */
  archive(id: string, by: string): Promise<TenantView>;
  /** It is served again. */
  restore(id: string, by: string): Promise<TenantView>;
  /** Everything that it has, for good, but for a project folder outside of its home. Refused until it is archived. */
  delete(id: string, by: string): Promise<void>;
}
