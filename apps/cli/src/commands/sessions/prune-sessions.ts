import { RequestError } from "@tandem/protocol";
import type { SessionRow, Store, TenantRow } from "@tandem/storage";
import { mkdir, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { loadStorage, openStore } from "@tandem/tandem/compose";
import { confirm } from "../../input/confirm.ts";
import type { Project } from "@tandem/tandem/config";
import type { Invocation } from "../../invocation.ts";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { listAll, openEngine } from "@tandem/tandem/engine";
import { openClient } from "../../sessions/open-client.ts";
import { writeExport } from "../../sessions/write-export.ts";
import { toCount } from "../../number-options.ts";
import { findTenant, openTenantProject, OPERATOR } from "@tandem/tandem/tenants";
import { write } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .option("--days <number>", "days without changes", "90")
      .option("--export <dir>", "export each session to this folder first, without uploaded files")
      .option("--tenant <id>", "sessions of this tenant (see `tandem tenants`)")
      .option("--dry-run", "only print the number")
      .option("-y, --yes", "do not ask for confirmation")
      .addOption(json())
      .action(runner(pruneSessions)),
    "tandem sessions prune --days 90 --export old",
    "tandem sessions prune --tenant acme --dry-run",
  );
}

const DAY_MS = 86_400_000;

export interface PruneOptions {
  days: string;
  /** A folder for one export file per session. */
  export?: string;
  dryRun?: boolean;
  yes?: boolean;
  /** The tenant whose sessions are pruned. Default: the operator. */
  tenant?: string;
}

const COMMAND = "tandem sessions prune";

/** Deletes sessions that have been idle for long. Running sessions and those that wait for an answer are kept. */
export async function pruneSessions(invocation: Invocation, options: PruneOptions): Promise<void> {
  const days = toCount("--days", options.days);
  const project = await openProjectOrDefaults(invocation);
  const storage = await loadStorage();
  await using own = await openStore(invocation, project);
  const { tenant: id = storage.DEFAULT_TENANT } = options;
  const tenant = id === storage.DEFAULT_TENANT ? undefined : await findTenant(own, id);
  const store = tenant ? await own.tenant(tenant.id) : own;
  const found = await quietSince(store, new Date(Date.now() - days * DAY_MS).toISOString());
  const folder = options.export === undefined ? undefined : resolve(invocation.cwd, options.export);
  const whose = tenant ? ` of ${tenant.id}` : "";
  const what = `${found.length} ${found.length === 1 ? "session" : "sessions"}${whose} ${found.length === 1 ? "has" : "have"} not changed for ${days} days`;
  if (options.dryRun || found.length === 0) {
    const json = { found, deleted: [], kept: [], folder: folder ?? null };
    await write(invocation.stdout, invocation.json ? `${JSON.stringify(json)}\n` : `${what}.\n`);
    return;
  }
  if (!options.yes) {
    const kept =
      folder === undefined
        ? "and will be deleted permanently"
        : `and will remain only in ${folder}, without their files`;
    await confirm(invocation, `${what}, ${kept}.\n`, "Delete?");
  }
  if (folder !== undefined) await mkdir(folder, { recursive: true, mode: 0o700 });
  await using client = tenant
    ? await openTenantSessions({ host: invocation, project }, tenant, store)
    : await openClient(invocation, project, { command: COMMAND });
  const deleted: string[] = [];
  const kept: { id: string; why: string }[] = [];
  for (const id of found) {
    invocation.signal.throwIfAborted();
    try {
      if (folder !== undefined) await exportInto(folder, id, storage.exportSession(store, id));
      await client.sessions.delete(id);
      deleted.push(id);
    } catch (error) {
      // The session was resumed or deleted in the meantime.
      if (!(error instanceof RequestError)) throw error;
      kept.push({ id, why: error.message });
    }
  }
  if (invocation.json) {
    await write(invocation.stdout, `${JSON.stringify({ found, deleted, kept, folder: folder ?? null })}\n`);
    return;
  }
  const where = folder === undefined ? "" : ` They are in ${folder}.`;
  await write(invocation.stdout, `Deleted ${deleted.length} of ${found.length}.${deleted.length > 0 ? where : ""}\n`);
  for (const { id, why } of kept) await write(invocation.stderr, `Kept ${id}: ${why}\n`);
}

/** Opens a tenant's sessions directly: a server gives them only to the tenant. */
async function openTenantSessions(operator: { host: Invocation; project: Project }, tenant: TenantRow, store: Store) {
  const { host, project } = await openTenantProject(operator, tenant);
  await using parts = new AsyncDisposableStack();
  const { engine } = await openEngine(parts, host, project, {
    store,
    command: COMMAND,
    runs: false,
    ownOnly: true,
    context: "never",
    log: { warn: () => undefined },
  });
  parts.defer(() => engine.stop(0));
  const owned = parts.move();
  return {
    sessions: { delete: (id: string) => engine.sessions.delete(id, OPERATOR) },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function quietSince(store: Store, cutoff: string): Promise<string[]> {
  const found: string[] = [];
  const query = { order: "asc", includeArchived: true, created: { lt: cutoff } } as const;
  for await (const row of listAll((page) => store.sessions.list(page), query)) {
    if (row.updatedAt < cutoff && isQuiet(row)) found.push(row.id);
  }
  return found;
}

const isQuiet = ({ status, waitingFor }: SessionRow): boolean =>
  (status === "idle" || status === "terminated") && waitingFor.length === 0;

/** Writes to a temporary name and renames, so that an interrupted export is written again. */
async function exportInto(folder: string, id: string, lines: AsyncIterable<string>): Promise<void> {
  const file = join(folder, `${id}.jsonl`);
  await rm(`${file}.part`, { force: true });
  await writeExport(lines, `${file}.part`);
  await rename(`${file}.part`, file);
}
