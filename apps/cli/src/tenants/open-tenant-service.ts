import type { TenantService } from "@tandem/server";
import { z } from "zod";
import { loadServer, openStore } from "@tandem/tandem/compose";
import type { Project } from "@tandem/tandem/config";
import type { Invocation } from "../invocation.ts";
import { serverFor } from "../sessions/open-client.ts";
import { ServerConnection } from "../sessions/server-connection.ts";
import { createTenantService } from "@tandem/tandem/tenants";

/** Manages the tenants of our database through the running server, else in this process. */
export async function openTenantService(
  context: Invocation,
  project: Project,
): Promise<TenantService & AsyncDisposable> {
  const server = await serverFor(context, project);
  if (server) return remoteTenantService(await ServerConnection.open(server));
  const store = await openStore(context, project);
  const tenantService = createTenantService(context.env, store, (note) => store.audit.append([note]));
  return { ...tenantService, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

async function remoteTenantService(server: ServerConnection): Promise<TenantService & AsyncDisposable> {
  const { tenantView, tenantInUse } = await loadServer();
  const path = (...steps: string[]) => ["/v1/tenants", ...steps.map(encodeURIComponent)].join("/");
  // The server takes the caller's name from the token.
  return {
    list: async () => (await server.call("GET", path(), { schema: z.object({ data: z.array(tenantView) }) })).data,
    get: (id) => server.call("GET", path(id), { schema: tenantInUse }),
    create: (body) => server.call("POST", path(), { schema: tenantView, body }),
    update: (id, body) => server.call("POST", path(id), { schema: tenantView, body }),
    archive: (id) => server.call("POST", path(id, "archive"), { schema: tenantView }),
    restore: (id) => server.call("POST", path(id, "restore"), { schema: tenantView }),
    delete: async (id) => void (await server.call("DELETE", path(id), { schema: z.unknown() })),
    [Symbol.asyncDispose]: async () => server[Symbol.dispose](),
  };
}
