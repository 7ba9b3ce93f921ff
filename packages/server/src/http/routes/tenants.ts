import { RequestError } from "@tandem/protocol";
import { DEFAULT_TENANT } from "@tandem/storage";
import {
  createTenant,
  ownTenant,
  type TenantOffice,
  tenantInUse,
  tenantView,
  updateTenant,
} from "../../tenants/tenant-office.ts";
import { type Call, jsonRoute, type Route } from "../route.ts";
import { deletedOf, listOf } from "../schemas/page.ts";

const NO_QUOTAS = { turns: null, sessions: null, usd_per_day: null, file_bytes: null };

/** Whose things are whose. All but the first is the operator's. */
export const tenantRoutes: Route[] = [
  jsonRoute({
    name: "tenant.retrieve",
    method: "GET",
    path: "/v1/tenant",
    scope: "read",
    at: "here",
    extension: true,
    summary: "Say which tenant this token belongs to, what it may take, and what it takes now",
    response: ownTenant,
    handle: async ({ tenant, token, standing }) => ({
      ...tenant,
      is_operator: tenant.id === DEFAULT_TENANT,
      scopes: [...token.scopes],
      ...((await standing?.()) ?? { quotas: NO_QUOTAS, use: null }),
    }),
  }),
  jsonRoute({
    name: "tenants.list",
    method: "GET",
    path: "/v1/tenants",
    scope: "admin",
    at: "here",
    extension: true,
    operator: true,
    summary: "List tenants, archived ones too",
    response: listOf(tenantView),
    handle: async (call) => ({ data: await officeOf(call).list() }),
  }),
  jsonRoute({
    name: "tenants.create",
    method: "POST",
    path: "/v1/tenants",
    scope: "admin",
    at: "here",
    extension: true,
    operator: true,
    summary: "Create a tenant, with folders of its own",
    body: createTenant,
    response: tenantView,
    handle: (call) => officeOf(call).create(call.body, call.token.name),
  }),
  jsonRoute({
    name: "tenants.retrieve",
    method: "GET",
    path: "/v1/tenants/:tenant_id",
    scope: "admin",
    at: "here",
    extension: true,
    operator: true,
    summary: "Retrieve a tenant, and what it takes now",
    response: tenantInUse,
    handle: (call) => officeOf(call).get(call.params.tenant_id),
  }),
  jsonRoute({
    name: "tenants.update",
    method: "POST",
    path: "/v1/tenants/:tenant_id",
    scope: "admin",
    at: "here",
    extension: true,
    operator: true,
    summary: "Change a tenant's name, credential or quotas; it counts within seconds, everywhere",
    body: updateTenant,
    response: tenantView,
    handle: (call) => officeOf(call).update(call.params.tenant_id, call.body, call.token.name),
  }),
  jsonRoute({
    name: "tenants.archive",
    method: "POST",
    path: "/v1/tenants/:tenant_id/archive",
    scope: "admin",
    at: "here",
    extension: true,
    operator: true,
    summary: "Archive a tenant: its tokens are refused and its turns end; all that it has is kept",
    response: tenantView,
    handle: (call) => officeOf(call).archive(call.params.tenant_id, call.token.name),
  }),
  jsonRoute({
    name: "tenants.restore",
    method: "POST",
    path: "/v1/tenants/:tenant_id/restore",
    scope: "admin",
    at: "here",
    extension: true,
    operator: true,
    summary: "Serve a tenant again that was archived",
    response: tenantView,
    handle: (call) => officeOf(call).restore(call.params.tenant_id, call.token.name),
  }),
  jsonRoute({
    name: "tenants.delete",
    method: "DELETE",
    path: "/v1/tenants/:tenant_id",
    scope: "admin",
    at: "here",
    extension: true,
    operator: true,
    summary: "Delete an archived tenant with all that it has, for good",
    response: deletedOf("tenant_deleted"),
    handle: async (call) => {
      await officeOf(call).delete(call.params.tenant_id, call.token.name);
      return { type: "tenant_deleted" as const, id: call.params.tenant_id };
    },
  }),
];

function officeOf({ office }: Pick<Call, "office">): TenantOffice {
  if (office) return office;
  throw new RequestError("not_supported", "This server keeps no tenants.", { fix: "Start it with `tandem up`." });
}
