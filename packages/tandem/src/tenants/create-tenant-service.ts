import { DEFAULT_TENANT, type Store, type TenantRow } from "@tandem/storage";
import { isoNow, RequestError, type AuditNote, type Clock, type TenantView } from "@tandem/protocol";
import type { TenantService } from "@tandem/server";
import { realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { tandemHome, type Variables } from "../config/tandem-home.ts";
import { ensureTenantFolders, isWithin, tenantFolders, tenantSettings } from "./tenant-folders.ts";
import { toLimits, toQuotas, useOf } from "./tenant-usage.ts";
import { retireTenantUser } from "./tenant-user.ts";

/** Applies changes to the open runtimes of this process. */
export interface Refreshable {
  refresh(): Promise<void>;
}

/** Manages the tenants of a store, for the operator. */
export function createTenantService({
  env,
  store,
  clock,
  note,
  runtimes,
}: {
  env: Variables;
  store: Store;
  clock: Clock;
  note: (note: AuditNote) => Promise<unknown>;
  runtimes?: Refreshable;
}): TenantService {
  const row = async (id: string): Promise<TenantRow> => {
    const found = id === DEFAULT_TENANT ? undefined : await store.tenants.get(id);
    if (!found) throw new RequestError("not_found", `There is no tenant ${id}.`);
    return found;
  };
  const view = async (of: TenantRow): Promise<TenantView> => ({
    ...describe(env, of),
    tokens: (await store.tokens.list(of.id)).length,
  });
  const change = async (
    id: string,
    given: Parameters<Store["tenants"]["update"]>[1],
    { kind, by, details }: { kind: AuditNote["kind"]; by: string; details?: Record<string, unknown> },
  ): Promise<TenantView> => {
    const changed = await store.tenants.update(id, given);
    await runtimes?.refresh();
    await note({ kind, actor: by, details: { id, ...details } });
    return view(changed);
  };
  return {
    async list() {
      const rows = await store.tenants.list();
      return Promise.all(rows.filter(({ id }) => id !== DEFAULT_TENANT).map(view));
    },
    async get(id) {
      const found = await row(id);
      return { ...(await view(found)), use: await store.borrowTenant(id, (own) => useOf(own, clock)) };
    },
    async create(params, by) {
      const { id, name = id, credential = null, quotas = {} } = params;
      const others = await store.tenants.list();
      if (others.some((other) => other.id === id)) {
        throw new RequestError("conflict", `The tenant ${id} exists already.`, {
          fix: "Choose another id: `tandem tenants list` lists the used ones.",
        });
      }
      const project = params.project === undefined ? undefined : await projectFolder(env, params.project, others);
      const made: TenantRow = {
        id,
        name,
        createdAt: isoNow(clock),
        archivedAt: null,
        limits: toLimits({}, quotas),
        settings: { credential, ...(project !== undefined && { project }) },
      };
      await ensureTenantFolders(env, tenantFolders(env, made));
      await store.tenants.create(made);
      await note({ kind: "tenant.created", actor: by, details: { id, name, ...(project && { project }) } });
      return view(made);
    },
    async update(id, { name, credential, quotas }, by) {
      const found = await row(id);
      const settings = tenantSettings.parse(found.settings);
      const given = {
        ...(name !== undefined && { name }),
        ...(quotas && { limits: toLimits(found.limits, quotas) }),
        ...(credential !== undefined && { settings: { ...settings, credential } }),
      };
      return change(id, given, { kind: "tenant.changed", by, details: { name, quotas, credential } });
    },
    async archive(id, by) {
      await row(id);
      return change(id, { archivedAt: isoNow(clock) }, { kind: "tenant.archived", by });
    },
    async restore(id, by) {
      await row(id);
      return change(id, { archivedAt: null }, { kind: "tenant.restored", by });
    },
    async delete(id, by) {
      const found = await row(id);
      if (found.archivedAt === null) {
        throw new RequestError("conflict", `${id} is active.`, {
          fix: `Archive it first: \`tandem tenants archive ${id}\`, or POST /v1/tenants/${id}/archive.`,
        });
      }
      await runtimes?.refresh();
      await retireTenantUser(store.records, id);
      await store.tenants.delete(id);
      const { removeTree } = await import("@tandem/workspace");
      await removeTree(tenantFolders(env, found).home);
      await note({ kind: "tenant.deleted", actor: by, details: { id, name: found.name } });
    },
  };
}

function describe(env: Variables, row: TenantRow): Omit<TenantView, "tokens"> {
  const { id, name, createdAt, archivedAt, limits, settings } = row;
  const { home, project } = tenantFolders(env, row);
  const { credential } = tenantSettings.parse(settings);
  return {
    id,
    name,
    created_at: createdAt,
    archived_at: archivedAt,
    project,
    home,
    credential,
    quotas: toQuotas(limits),
  };
}

/** Refuses a folder that overlaps with another tenant's, or contains Tandem's own files. */
async function projectFolder(env: Variables, path: string, others: readonly TenantRow[]): Promise<string> {
  const refused = (why: string, fix: string) =>
    new RequestError("invalid_request", `project: ${path} ${why}.`, { fix });
  if (!isAbsolute(path)) throw refused("is not absolute", "Give an absolute path.");
  const folder = await realpath(path).catch(() => undefined);
  if (folder === undefined || !(await stat(folder)).isDirectory()) {
    throw refused("is not a folder on this machine", "Create it first, or omit it to use a new folder.");
  }
  const home = await realpath(tandemHome(env)).catch(() => tandemHome(env));
  if (isWithin(home, folder) || isWithin(folder, home)) {
    throw refused("contains Tandem's own data", "Choose another folder, or omit it.");
  }
  for (const other of others.filter(({ id }) => id !== DEFAULT_TENANT)) {
    const { project } = tenantFolders(env, other);
    if (!isWithin(project, folder) && !isWithin(folder, project)) continue;
    throw refused(`shares files with the project of ${other.id}`, "Choose a folder that no other tenant uses.");
  }
  return folder;
}
