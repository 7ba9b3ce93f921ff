import type { TenantService } from "@tandem/server";
import { openStore } from "@tandem/tandem/compose";
import type { Project } from "@tandem/tandem/config";
import type { Invocation } from "../invocation.ts";
import { serverFor } from "../sessions/open-client.ts";
import { ServerConnection } from "../sessions/server-connection.ts";
import { createTenantService } from "@tandem/tandem/tenants";

/** Manages the tenants of our database through the running server, else in this process. */
export async function openTenantService(
  invocation: Invocation,
  project: Project,
): Promise<TenantService & AsyncDisposable> {
  const server = await serverFor(invocation, project);
  if (server) return remoteTenantService(await ServerConnection.open(server));
  const store = await openStore(invocation, project);
  const tenantService = createTenantService(invocation.env, store, (note) => store.audit.append([note]));
  return { ...tenantService, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

/** The server takes the actor of every request from the token. */
function remoteTenantService(server: ServerConnection): TenantService & AsyncDisposable {
  const { api } = server;
  return {
    list: async () => (await api.call("tenants.list")).data,
    get: (id) => api.call("tenants.retrieve", { params: { tenant_id: id } }),
    create: (body) => api.call("tenants.create", { body }),
    update: (id, body) => api.call("tenants.update", { params: { tenant_id: id }, body }),
    archive: (id) => api.call("tenants.archive", { params: { tenant_id: id } }),
    restore: (id) => api.call("tenants.restore", { params: { tenant_id: id } }),
    delete: async (id) => void (await api.call("tenants.delete", { params: { tenant_id: id } })),
    [Symbol.asyncDispose]: async () => server[Symbol.dispose](),
  };
}
