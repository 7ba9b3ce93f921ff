import type { Logger, TenantRuntime, TenantRuntimes } from "@tandem/server";
import { DEFAULT_TENANT, type Quotas, type Store, type TenantRow, DUE, WEBHOOKS } from "@tandem/storage";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../config/host.ts";
import { openTenantRuntime, type OpenTenantRuntime, type TenantRuntimeOptions } from "./open-tenant-runtime.ts";
import { withOperatorStop } from "./stop-everyone.ts";
import { openTenantProject } from "./tenant-project.ts";
import { usageReader } from "./tenant-usage.ts";
import { loadSessions } from "../compose.ts";

/** How often a process checks for changes of tenants made at another process. */
const LOOK_MS = 2_000;
/** How often a process of a fleet checks every tenant for work. */
const SWEEP_MS = 10_000;
/** How long turns may take to end after a tenant's credential or folder changed. */
const MOVE_MS = 5_000;

interface RuntimeDependencies {
  /** The operator's. */
  host: Host;
  project: Project;
  store: Store;
  logger: Logger;
  /** The default tenant's. */
  own: OpenTenantRuntime;
  /** Replaces the tenants' credentials, for the demo. */
  credential?: TenantRuntimeOptions["credential"];
  /** The tenants whose sessions this process runs; absent or null for all. */
  serves?: readonly string[] | null;
  /** Fleet options of a tenant's runtime. */
  fleetOf?: (tenant: string, store: Store) => Pick<TenantRuntimeOptions, "engine" | "fleet">;
  observe?: TenantRuntimeOptions["observe"];
  /** The tenant that owns the login of this machine, if it is not the operator. */
  ownPerson?: string | undefined;
}

interface Opened {
  /** The current row. */
  row: TenantRow;
  tenant: TenantRuntime["tenant"];
  runtime: Promise<OpenTenantRuntime>;
}

/** The tenant runtimes of this process: the default tenant's, and one for each other tenant with work here. */
export class LocalTenantRuntimes implements TenantRuntimes, AsyncDisposable {
  readonly #dependencies: RuntimeDependencies;
  readonly #opened = new Map<string, Opened>();
  readonly #listeners: ((runtime: TenantRuntime) => Promise<void>)[] = [];
  readonly #closing = new Map<string, Promise<void>>();
  #limits = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #sweeping: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(dependencies: RuntimeDependencies) {
    this.#dependencies = dependencies;
  }

  async of(tenant: string): Promise<OpenTenantRuntime | undefined> {
    if (tenant === DEFAULT_TENANT) return this.#dependencies.own;
    const opened = this.#opened.get(tenant);
    if (opened) return opened.runtime;
    if (this.#isClosed) return undefined;
    await this.#closing.get(tenant);
    const row = await this.#dependencies.store.tenants.get(tenant);
    if (!row || row.archivedAt !== null) return undefined;
    // A concurrent call may have opened it.
    return this.#opened.get(tenant)?.runtime ?? this.#open(row);
  }

  onClose(listener: (runtime: TenantRuntime) => Promise<void>): void {
    this.#listeners.push(listener);
  }

  /** The open runtimes, the default one first, without those that are still opening. */
  get open(): readonly OpenTenantRuntime[] {
    return [this.#dependencies.own, ...this.#ready];
  }

  /** The maximum of concurrent turns of a tenant, as last read. */
  limitOf(tenant: string): number {
    return this.#limits.get(tenant) ?? Infinity;
  }

  /**
   * Opens the runtimes of tenants with pending work, or with work that a dead process left. In a fleet it repeats this,
   * because the process that held a tenant's sessions may have been the only one that knew of them.
   */
  async resumeTenants(): Promise<void> {
    const { fleetOf } = this.#dependencies;
    if (fleetOf) this.#sweeping = setInterval(() => void this.#resumeTenants(isWanted), SWEEP_MS).unref();
    await this.#resumeTenants(fleetOf ? isWanted : hasWork);
  }

  /** Applies changes of tenants; closes those that were archived or deleted. */
  async refresh(): Promise<void> {
    const rows = new Map((await this.#list()).map((row) => [row.id, row]));
    const over: string[] = [];
    for (const [id, opened] of this.#opened) {
      const row = rows.get(id);
      if (!row || row.archivedAt !== null) over.push(id);
      else if (isMoved(row, opened.row)) void this.close(id, MOVE_MS);
      else {
        opened.row = row;
        opened.tenant.name = row.name;
      }
    }
    await Promise.all(over.map((id) => this.close(id)));
  }

  /** Ends a tenant's turns and processes and closes its streams. The next request opens it again. */
  close(tenant: string, deadlineMs = 0): Promise<void> {
    const opened = this.#opened.get(tenant);
    if (!opened) return this.#closing.get(tenant) ?? Promise.resolve();
    this.#opened.delete(tenant);
    const closing = this.#close(opened, deadlineMs).finally(() => this.#closing.delete(tenant));
    this.#closing.set(tenant, closing);
    return closing;
  }

  /** Lets the turns of all tenants finish concurrently; requests are still answered. */
  async stop(deadlineMs: number): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearInterval(this.#sweeping);
    const runtimes = await Promise.allSettled([...this.#opened.values()].map(({ runtime }) => runtime));
    await Promise.all(
      runtimes.map(async (each) => (each.status === "fulfilled" ? each.value.stop(deadlineMs) : undefined)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(0);
    await Promise.all([...this.#opened.keys()].map((tenant) => this.close(tenant)));
    await Promise.allSettled(this.#closing.values());
  }

  readonly #ready = new Set<OpenTenantRuntime>();

  #open(row: TenantRow): Promise<OpenTenantRuntime> {
    const tenant = { id: row.id, name: row.name };
    const opened: Opened = { row, tenant, runtime: this.#compose(tenant, row) };
    this.#opened.set(row.id, opened);
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref();
    opened.runtime.catch((error: unknown) => {
      if (this.#opened.get(row.id) === opened) this.#opened.delete(row.id);
      this.#dependencies.logger.error({ err: error, tenant: row.id }, "a tenant cannot be served");
    });
    return opened.runtime;
  }

  async #compose(tenant: TenantRuntime["tenant"], row: TenantRow): Promise<OpenTenantRuntime> {
    const { id } = tenant;
    const { store, logger, credential, fleetOf, observe } = this.#dependencies;
    const isOwn = this.#dependencies.ownPerson === id;
    const { host, project } = await openTenantProject(this.#dependencies, row, { isOwn, records: store.records });
    const own = await store.tenant(id);
    const limits = (): Quotas => (this.#opened.get(id)?.row ?? row).limits;
    const { engine, fleet } = fleetOf?.(id, own) ?? {};
    const runtime = await openTenantRuntime(host, project, own, {
      tenant,
      logger: logger.child({ tenant: id }),
      ...(credential && { credential }),
      engine: { quotas: limits, sharedRecords: store.records, ...engine },
      readUsage: usageReader(own, limits, this.#dependencies.own.clock),
      ...(fleet && { fleet }),
      ...(observe && { observe }),
    });
    try {
      await runtime.start();
    } catch (error) {
      await runtime[Symbol.asyncDispose]();
      throw error;
    }
    const killSwitch = withOperatorStop(runtime.engine.killSwitch, this.#dependencies.own.engine.killSwitch);
    const guarded = { ...runtime, engine: { ...runtime.engine, killSwitch } };
    this.#ready.add(guarded);
    return guarded;
  }

  async #close({ runtime: opening }: Opened, deadlineMs: number): Promise<void> {
    const runtime = await opening.catch(() => undefined);
    if (!runtime) return;
    this.#ready.delete(runtime);
    const { logger } = this.#dependencies;
    const { id } = runtime.tenant;
    try {
      for (const listener of this.#listeners) await listener(runtime);
      await runtime.stop(deadlineMs);
      await runtime[Symbol.asyncDispose]();
      await runtime.store[Symbol.asyncDispose]();
    } catch (error) {
      logger.warn({ err: error, tenant: id }, "a tenant's runtime did not close cleanly");
    }
  }

  async #resumeTenants(wants: (store: Store) => Promise<boolean>): Promise<void> {
    const { store, logger, serves, fleetOf } = this.#dependencies;
    const rows = await this.#list().catch((error: unknown) => {
      logger.warn({ err: error }, "tenants could not be checked");
      return [];
    });
    for (const { id, archivedAt } of rows) {
      if (this.#isClosed) return;
      const isOurs = id !== DEFAULT_TENANT && archivedAt === null && (serves?.includes(id) ?? true);
      if (!isOurs || this.#opened.has(id)) continue;
      try {
        // A fleet looks again and again, and its database shares connections. A file of its own is closed after the look.
        const hasAny = fleetOf ? await wants(await store.tenant(id)) : await store.borrowTenant(id, wants);
        if (hasAny) await this.of(id);
      } catch (error) {
        logger.warn({ err: error, tenant: id }, "a tenant's work could not be resumed");
      }
    }
  }

  async #list(): Promise<TenantRow[]> {
    const rows = await this.#dependencies.store.tenants.list();
    this.#limits = new Map(rows.map(({ id, limits }) => [id, limits.maxRunning ?? Infinity]));
    return rows;
  }

  async #look(): Promise<void> {
    // During a database outage there are no changes to apply.
    await this.refresh().catch(() => undefined);
  }
}

/** A runtime cannot change the settings it was opened with. */
const isMoved = (now: TenantRow, before: TenantRow): boolean =>
  JSON.stringify(now.settings) !== JSON.stringify(before.settings);

/** True if a session, a job or a webhook has pending work and no process holds it, or a deployment has a schedule. */
const isWanted = async (store: Store): Promise<boolean> =>
  (await store.leases.waitingForWorker()).length > 0 ||
  (await store.jobs.waiting()).length > 0 ||
  (await store.records.list(WEBHOOKS, DUE, { limit: 1 })).length > 0 ||
  (await (await loadSessions()).hasSchedules(store.records));

/** True if the store has pending turns, answers, timers or jobs. */
async function hasWork(store: Store): Promise<boolean> {
  const asked = [
    () => isWanted(store),
    async () => (await store.sessions.list({ limit: 1, statuses: ["running", "rescheduling"] })).data.length > 0,
    async () => (await store.sessions.list({ limit: 1, waiting: true })).data.length > 0,
    async () => (await store.jobs.list({ limit: 1, states: ["queued", "running"] })).data.length > 0,
  ];
  for (const ask of asked) if (await ask()) return true;
  return false;
}
