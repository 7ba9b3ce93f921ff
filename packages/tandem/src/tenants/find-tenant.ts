import { nearest, TandemError } from "@tandem/protocol";
import type { Store, TenantRow } from "@tandem/storage";

export async function findTenant(store: Pick<Store, "tenants">, id: string): Promise<TenantRow> {
  const found = await store.tenants.get(id);
  if (found) return found;
  const known = (await store.tenants.list()).map((row) => row.id);
  const meant = nearest(id, known);
  throw new TandemError("not_found", `There is no tenant ${id}.`, {
    fix: meant ? `Did you mean ${meant}?` : `Add it with \`tandem tenants add ${id}\`.`,
  });
}
