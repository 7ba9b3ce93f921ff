import { RequestError } from "@tandem/protocol";
import { DEFAULT_TENANT } from "@tandem/storage";
import type { TenantService } from "../../../tenants/tenant-service.ts";
import { type Call, jsonRoute, type Route } from "../../route.ts";

const NO_QUOTAS = { turns: null, sessions: null, usd_per_day: null, file_bytes: null };

/** Tenants. All routes but the first are the operator's. */
export const tenantRoutes: Route[] = [
  jsonRoute("tenant.retrieve", {
    scope: "read",
    at: "here",
    summary: "Show the tenant of this token, its quotas and its current usage",
    handle: async ({ tenant, token, health, readUsage }) => ({
      ...tenant,
      is_operator: tenant.id === DEFAULT_TENANT,
      demo: health?.demo ?? false,
      scopes: [...token.scopes],
      ...((await readUsage?.()) ?? { quotas: NO_QUOTAS, use: null }),
    }),
  }),
  jsonRoute("tenants.list", {
    scope: "admin",
    at: "here",
    operator: true,
    summary: "List tenants, archived ones too",
    handle: async (call) => ({ data: await tenantServiceOf(call).list() }),
  }),
  jsonRoute("tenants.create", {
    scope: "admin",
    at: "here",
    operator: true,
    summary: "Create a tenant with its own folders",
    handle: (call) => tenantServiceOf(call).create(call.body, call.token.name),
  }),
  jsonRoute("tenants.retrieve", {
    scope: "admin",
    at: "here",
    operator: true,
    summary: "Retrieve a tenant and its current usage",
    handle: (call) => tenantServiceOf(call).get(call.params.tenant_id),
  }),
  jsonRoute("tenants.update", {
    scope: "admin",
    at: "here",
    operator: true,
    summary: "Change a tenant's name, credential or quotas; all servers apply it within seconds",
    handle: (call) => tenantServiceOf(call).update(call.params.tenant_id, call.body, call.token.name),
  }),
  jsonRoute("tenants.archive", {
    scope: "admin",
    at: "here",
    operator: true,
    summary: "Archive a tenant: its tokens are refused and its turns end; its data is kept",
    handle: (call) => tenantServiceOf(call).archive(call.params.tenant_id, call.token.name),
  }),
  jsonRoute("tenants.restore", {
    scope: "admin",
    at: "here",
    operator: true,
    summary: "Restore an archived tenant",
    handle: (call) => tenantServiceOf(call).restore(call.params.tenant_id, call.token.name),
  }),
  jsonRoute("tenants.delete", {
    scope: "admin",
    at: "here",
    operator: true,
    summary: "Permanently delete an archived tenant with all of its data",
    handle: async (call) => {
      await tenantServiceOf(call).delete(call.params.tenant_id, call.token.name);
      return { type: "tenant_deleted" as const, id: call.params.tenant_id };
    },
  }),
];

function tenantServiceOf({ tenantService }: Pick<Call, "tenantService">): TenantService {
  if (tenantService) return tenantService;
  throw new RequestError("not_supported", "This server keeps no tenants.", { fix: "Start it with `tandem up`." });
}
