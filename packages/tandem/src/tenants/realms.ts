import type { Logger, Realm, Realms } from "@tandem/server";
import type { Quotas } from "@tandem/sessions";
import { DEFAULT_TENANT, type Store, type TenantRow } from "@tandem/storage";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../host.ts";
import { composeRealm, type ComposedRealm, type RealmOptions } from "./compose-realm.ts";
import { hasWork, isWanted } from "./has-work.ts";
import { heedOperator } from "./stop-everyone.ts";
import { openTenantProject } from "./tenant-project.ts";
import { standingOf } from "./tenant-standing.ts";

/** So soon does a process hear of what the operator has said of a tenant at another. */
const LOOK_MS = 2_000;
/** So often is every tenant looked at in a fleet. */
const SWEEP_MS = 10_000;
/** So long may turns take to end where a tenant's credential or folder has become another one. */
const MOVE_MS = 5_000;

interface Parts {
  /** The operator's. */
  host: Host;
  project: Project;
  store: Store;
  logger: Logger;
  /** The default tenant's. */
  own: ComposedRealm;
  /** Instead of what tenants have: for the demo. */
  credential?: RealmOptions["credential"];
  /** Whose sessions this process takes; absent or null for everybody's. */
  serves?: readonly string[] | null;
  /** What a tenant's realm is told of the fleet. */
  fleetOf?: (tenant: string, store: Store) => Pick<RealmOptions, "engine" | "fleet">;
  observe?: RealmOptions["observe"];
  /** The tenant to whom the login of this machine belongs, where it is not the operator's. */
  ownPerson?: string | undefined;
}

interface Opened {
  /** As it is now. */
  row: TenantRow;
  tenant: Realm["tenant"];
  realm: Promise<ComposedRealm>;
}

/** The realms of this process: the default tenant's, and one for each other tenant that has something to do here. */
export class TenantRealms implements Realms, AsyncDisposable {
  readonly #parts: Parts;
  readonly #opened = new Map<string, Opened>();
  readonly #listeners: ((realm: Realm) => Promise<void>)[] = [];
  readonly #closing = new Map<string, Promise<void>>();
  #limits = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #sweeping: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async of(tenant: string): Promise<ComposedRealm | undefined> {
    if (tenant === DEFAULT_TENANT) return this.#parts.own;
    const opened = this.#opened.get(tenant);
    if (opened) return opened.realm;
    if (this.#isClosed) return undefined;
    await this.#closing.get(tenant);
    const row = await this.#parts.store.tenants.get(tenant);
    if (!row || row.archivedAt !== null) return undefined;
    // Somebody else may have asked meanwhile.
    return this.#opened.get(tenant)?.realm ?? this.#open(row);
  }

  onClose(listener: (realm: Realm) => Promise<void>): void {
    this.#listeners.push(listener);
  }

  /** Of those that are open, the default one first. One that is about to be is not among them yet. */
  get open(): readonly ComposedRealm[] {
    return [this.#parts.own, ...this.#ready];
  }

  /** How many turns of a tenant may run at once, as far as is known here. */
  limitOf(tenant: string): number {
    return this.#limits.get(tenant) ?? Infinity;
  }

  /**
   * Opens the realms of tenants for whom something waits, or has been left by a process that died. In a fleet, also from now
   * on: the process that had a tenant's sessions may have been the only one that knew of them.
   */
  async takeUp(): Promise<void> {
    const { fleetOf } = this.#parts;
    if (fleetOf) this.#sweeping = setInterval(() => void this.#takeUp(isWanted), SWEEP_MS).unref();
    await this.#takeUp(fleetOf ? isWanted : hasWork);
  }

  /** What the operator has said of tenants counts from now on; those that are archived or gone are closed. */
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

  /** Ends a tenant's turns and processes, and all that listens to them. It is opened again when it is asked for. */
  close(tenant: string, deadlineMs = 0): Promise<void> {
    const opened = this.#opened.get(tenant);
    if (!opened) return this.#closing.get(tenant) ?? Promise.resolve();
    this.#opened.delete(tenant);
    const closing = this.#close(opened, deadlineMs).finally(() => this.#closing.delete(tenant));
    this.#closing.set(tenant, closing);
    return closing;
  }

  /** Lets turns of all tenants end, together; they still answer. */
  async stop(deadlineMs: number): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearInterval(this.#sweeping);
    const realms = await Promise.allSettled([...this.#opened.values()].map(({ realm }) => realm));
    await Promise.all(
      realms.map(async (each) => (each.status === "fulfilled" ? each.value.stop(deadlineMs) : undefined)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(0);
    await Promise.all([...this.#opened.keys()].map((tenant) => this.close(tenant)));
    await Promise.allSettled(this.#closing.values());
  }

  readonly #ready = new Set<ComposedRealm>();

  #open(row: TenantRow): Promise<ComposedRealm> {
    const tenant = { id: row.id, name: row.name };
    const opened: Opened = { row, tenant, realm: this.#compose(tenant, row) };
    this.#opened.set(row.id, opened);
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref();
    opened.realm.catch((error: unknown) => {
      if (this.#opened.get(row.id) === opened) this.#opened.delete(row.id);
      this.#parts.logger.error({ err: error, tenant: row.id }, "a tenant cannot be served");
    });
    return opened.realm;
  }

  async #compose(tenant: Realm["tenant"], row: TenantRow): Promise<ComposedRealm> {
    const { id } = tenant;
    const { store, logger, credential, fleetOf, observe } = this.#parts;
    const isOwn = this.#parts.ownPerson === id;
    const { host, project } = await openTenantProject(this.#parts, row, { isOwn });
    const own = await store.tenant(id);
    const limits = (): Quotas => (this.#opened.get(id)?.row ?? row).limits;
    const { engine, fleet } = fleetOf?.(id, own) ?? {};
    const realm = await composeRealm(host, project, own, {
      tenant,
      logger: logger.child({ tenant: id }),
      ...(credential && { credential }),
      engine: { quotas: limits, sharedRecords: store.records, ...engine },
      standing: standingOf(own, limits),
      ...(fleet && { fleet }),
      ...(observe && { observe }),
    });
    try {
      await realm.start();
    } catch (error) {
      await realm[Symbol.asyncDispose]();
      throw error;
    }
    const killSwitch = heedOperator(realm.engine.killSwitch, this.#parts.own.engine.killSwitch);
    const heeding = { ...realm, engine: { ...realm.engine, killSwitch } };
    this.#ready.add(heeding);
    return heeding;
  }

  async #close({ realm: opening }: Opened, deadlineMs: number): Promise<void> {
    const realm = await opening.catch(() => undefined);
    if (!realm) return;
    this.#ready.delete(realm);
    const { logger } = this.#parts;
    const { id } = realm.tenant;
    try {
      for (const listener of this.#listeners) await listener(realm);
      await realm.stop(deadlineMs);
      await realm[Symbol.asyncDispose]();
      await realm.store[Symbol.asyncDispose]();
    } catch (error) {
      logger.warn({ err: error, tenant: id }, "a tenant's realm did not close as it should");
    }
  }

  async #takeUp(wants: (store: Store) => Promise<boolean>): Promise<void> {
    const { store, logger, serves } = this.#parts;
    const rows = await this.#list().catch((error: unknown) => {
      logger.warn({ err: error }, "tenants could not be looked at");
      return [];
    });
    for (const { id, archivedAt } of rows) {
      if (this.#isClosed) return;
      const isOurs = id !== DEFAULT_TENANT && archivedAt === null && (serves?.includes(id) ?? true);
      if (!isOurs || this.#opened.has(id)) continue;
      try {
        if (await wants(await store.tenant(id))) await this.of(id);
      } catch (error) {
        logger.warn({ err: error, tenant: id }, "a tenant's work could not be taken up");
      }
    }
  }

  async #list(): Promise<TenantRow[]> {
    const rows = await this.#parts.store.tenants.list();
    this.#limits = new Map(rows.map(({ id, limits }) => [id, limits.maxRunning ?? Infinity]));
    return rows;
  }

  async #look(): Promise<void> {
    // While the database is away, nobody can have said anything.
    await this.refresh().catch(() => undefined);
  }
}

/** What a realm is built with cannot change under it. */
const isMoved = (now: TenantRow, before: TenantRow): boolean =>
  JSON.stringify(now.settings) !== JSON.stringify(before.settings);
