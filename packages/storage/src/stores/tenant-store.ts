import { RequestError } from "@tandem/protocol";
import type { Database } from "../database.ts";
import { createTenant, getTenant, listTenants, updateTenant, type StoredTenant } from "../operations/tenants.ts";
import type { TenantRow, TenantStore } from "../tenant-store.ts";
import { toIso, toIsoOrNull, toMs, toMsOrNull } from "../rows/time.ts";

/** The id becomes part of a schema or file name, unescaped. */
const ID = /^[a-z0-9-]{1,40}$/;

const decode = (row: StoredTenant): TenantRow => ({
  id: row.id,
  name: row.name,
  createdAt: toIso(row.created_at),
  archivedAt: toIsoOrNull(row.archived_at),
  limits: JSON.parse(row.limits) as TenantRow["limits"],
  settings: JSON.parse(row.settings) as TenantRow["settings"],
});

/** `tenants` are the stores open in this process. */
export function createTenantStore(
  database: Database,
  tenants: { open(id: string): Promise<unknown>; close(id: string): Promise<void> },
): TenantStore {
  return {
    create: async ({ id, name, createdAt, archivedAt, limits, settings }) => {
      if (!ID.test(id)) {
        throw new RequestError("invalid_request", `"${id.slice(0, 60)}" cannot be a tenant's id.`, {
          fix: "Use small letters, digits and hyphens, 40 at most.",
        });
      }
      await database.write(createTenant, {
        id,
        name,
        created_at: toMs(createdAt),
        archived_at: toMsOrNull(archivedAt),
        limits: JSON.stringify(limits),
        settings: JSON.stringify(settings),
      });
      // Creates its tables; the store is opened again on first use.
      await tenants.open(id);
      await tenants.close(id);
    },
    get: async (id) => {
      const row = await database.read(getTenant, id);
      return row && decode(row);
    },
    list: async () => (await database.read(listTenants, undefined)).map(decode),
    update: async (id, { name, archivedAt, limits, settings }) => {
      const change = {
        ...(name !== undefined && { name }),
        ...(archivedAt !== undefined && { archived_at: toMsOrNull(archivedAt) }),
        ...(limits && { limits: JSON.stringify(limits) }),
        ...(settings && { settings: JSON.stringify(settings) }),
      };
      return decode(await database.write(updateTenant, { id, change }));
    },
    delete: async (id) => {
      await tenants.close(id);
      await database.dropTenant(id);
    },
  };
}
