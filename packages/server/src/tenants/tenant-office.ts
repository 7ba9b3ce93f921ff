import type { CreateTenant, TenantQuotas, TenantUse, TenantView, UpdateTenant } from "@tandem/protocol";

/** Asks what a tenant takes and may. */
export type TenantStanding = () => Promise<{ quotas: TenantQuotas; use: TenantUse }>;

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
