import { operation } from "../operation.ts";
import { refuse } from "../refusal.ts";
import { all, assign, insert, one, sql, type Value, type Work } from "../sql-statement.ts";
import { DEFAULT_TENANT } from "../tenant-store.ts";

export interface StoredTenant {
  id: string;
  name: string;
  created_at: number;
  archived_at: number | null;
  /** Stored as JSON. */
  limits: string;
  settings: string;
  /** Version of the tenant's own tables; negative while it is being deleted. */
  schema: number;
}

/** Its tables are created when it is first opened, or by the next migration of all tenants. */
export const createTenant = operation("tenants.create", function* (row: Omit<StoredTenant, "schema">): Work<void> {
  yield insert("tenant", [{ ...row, schema: 0 }]);
});

export const getTenant = operation("tenants.get", function* (id: string): Work<StoredTenant | undefined> {
  return yield* one(sql<StoredTenant>`select * from tenant where id = ${id}`);
});

export const listTenants = operation("tenants.list", function* (): Work<StoredTenant[]> {
  return yield* all(sql<StoredTenant>`select * from tenant order by id`);
});

export const updateTenant = operation(
  "tenants.update",
  function* (args: { id: string; change: Record<string, Value> }): Work<StoredTenant> {
    const { id, change } = args;
    if (id === DEFAULT_TENANT && typeof change["archived_at"] === "number") {
      throw refuse("conflict", "The default tenant cannot be archived.", "Archive its sessions instead.");
    }
    const set = Object.keys(change).length > 0 ? assign(change) : sql`id = id`;
    const row = yield* one(sql<StoredTenant>`update tenant set ${set} where id = ${id} returning *`);
    if (!row) throw noSuchTenant(id);
    return row;
  },
);

/** Marks the tenant so that it can no longer be opened. */
export const retireTenant = operation("tenants.retire", function* (id: string): Work<void> {
  const row = yield* one(sql<StoredTenant>`update tenant set schema = -1 where id = ${id} returning *`);
  if (!row) throw noSuchTenant(id);
  if (row.archived_at === null || id === DEFAULT_TENANT) {
    throw refuse("conflict", `The tenant ${id} is not archived.`, "Archive it first. Deleted data cannot be restored.");
  }
});

/** Deletes the row and the tokens. The caller drops the tables. */
export const deleteTenant = operation("tenants.delete", function* (id: string): Work<void> {
  yield* retireTenant.work(id);
  yield sql`delete from token where tenant = ${id}`;
  yield sql`delete from tenant where id = ${id}`;
});

export const tenantsBehind = operation("tenants.behind", function* (schema: number): Work<{ id: string }[]> {
  return yield* all(sql<{ id: string }>`
    select id from tenant where schema >= 0 and schema < ${schema} and id <> ${DEFAULT_TENANT} order by id`);
});

export const markTenant = operation("tenants.mark", function* (args: { id: string; schema: number }): Work<void> {
  yield sql`update tenant set schema = ${args.schema} where id = ${args.id}`;
});

export const noSuchTenant = (id: string) => refuse("not_found", `There is no tenant ${id}.`);
