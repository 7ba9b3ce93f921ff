import type { CreateTenant, TenantQuotas, TenantUse, TenantView, UpdateTenant } from "@tandem/protocol";

/** Reads a tenant's usage and quotas. */
export type ReadTenantUsage = () => Promise<{ quotas: TenantQuotas; use: TenantUse }>;

/** Manages the tenants of a server. For the operator only. An unknown id is `not_found`. */
export interface TenantService {
  /** By id, without the default tenant. */
  list(): Promise<TenantView[]>;
  get(id: string): Promise<TenantView & { use: TenantUse }>;
  create(params: CreateTenant, by: string): Promise<TenantView>;
  update(id: string, params: UpdateTenant, by: string): Promise<TenantView>;
  /** Refuses the tenant's tokens and ends its turns from now on; its data is kept. */
  archive(id: string, by: string): Promise<TenantView>;
  /** Serves an archived tenant again. */
  restore(id: string, by: string): Promise<TenantView>;
  /** Permanently deletes all data of an archived tenant, except a project folder outside of its home. */
  delete(id: string, by: string): Promise<void>;
}
