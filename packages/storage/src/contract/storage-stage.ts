import { setTimeout as delay } from "node:timers/promises";
import type { LoggedEvent, SessionEvent, SessionId } from "@tandem/protocol";
import { inject } from "vitest";
import type { JobLease, JobRow } from "../job-store.ts";
import type { SessionRow, Store } from "../store.ts";
import type { Lease } from "../lease.ts";
import { DEFAULT_TENANT } from "../tenant-store.ts";
import { job, message, sessionRow, tenantRow } from "./samples.ts";

/** One engine under test. */
export interface StoreFixture extends AsyncDisposable {
  readonly name: string;
  /** Creates an empty database and returns its location. */
  location(): Promise<string>;
  /** Opens a store on it. */
  open(location: string): Promise<Store>;
  /** The whole content of a database, over all tenants, as text. */
  dump(location: string): Promise<string>;
  /** Runs one statement directly, bypassing the store. */
  execute(location: string, text: string): Promise<void>;
}

type Verify = (stage: Stage) => Promise<void>;

/** What every store does, in one sentence each, with its test. */
export type Behaviours = Record<string, Verify>;

const DEFAULT_TENANT_ONLY = new WeakSet<Verify>();

/** Marks a test that opens its own databases or is slow, and does not depend on the tenant's schema. */
export function defaultTenantOnly(verify: Verify): Verify {
  DEFAULT_TENANT_ONLY.add(verify);
  return verify;
}

export const isForDefaultTenant = (verify: Verify): boolean => DEFAULT_TENANT_ONLY.has(verify);

/**
 * Two stores on one database, which all behaviours share: leaked state of one would show in another. Uses the default
 * tenant or another one.
 */
export class Stage implements AsyncDisposable {
  readonly fixture: StoreFixture;
  readonly location: string;
  readonly store: Store;
  /** A second connection, which acts as another process. */
  readonly other: Store;
  readonly #roots: Store[] = [];

  private constructor(fixture: StoreFixture, location: string, store: Store, other: Store) {
    this.fixture = fixture;
    this.location = location;
    this.store = store;
    this.other = other;
  }

  static async open(fixture: StoreFixture, tenant: string = DEFAULT_TENANT): Promise<Stage> {
    const location = await fixture.location();
    const [store, other] = [await fixture.open(location), await fixture.open(location)];
    if (tenant !== DEFAULT_TENANT) await store.tenants.create(tenantRow({ id: tenant }));
    const stage = new Stage(fixture, location, await store.tenant(tenant), await other.tenant(tenant));
    stage.#roots.push(store, other);
    return stage;
  }

  /** Creates a session and takes its lease. */
  async session(fields: Partial<SessionRow> = {}, input: SessionEvent[] = []): Promise<Lease & { row: SessionRow }> {
    const row = sessionRow(fields);
    await this.store.sessions.create(row, input);
    const lease = await this.store.leases.take(row.id, "stage", 60_000);
    return { ...lease!, row };
  }

  /** Creates a job and takes its lease. */
  async job(fields: Partial<JobRow> = {}): Promise<JobLease & { row: JobRow }> {
    const row = job(fields);
    await this.store.jobs.create(row);
    const lease = await this.store.jobs.take(row.id, "stage", 60_000);
    return { ...lease!, row };
  }

  /** Appends each message in its own concurrent call. */
  appendEach(lease: Lease, texts: readonly string[], store = this.store): Promise<LoggedEvent[][]> {
    return Promise.all(texts.map((text) => store.events.append(lease, [{ thread: null, event: message(text) }])));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const store of this.#roots) await store[Symbol.asyncDispose]();
  }
}

/** Ends a test that would otherwise wait for ever. */
export const tooLate = (): AbortSignal => AbortSignal.timeout(30_000 * inject("slowness"));

/** Follows until `count` events have arrived. */
export async function collect(
  store: Store,
  session: SessionId,
  after: number,
  count: number,
  each: () => Promise<void> | void = () => {},
): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for await (const batch of store.events.follow(session, after, tooLate())) {
    events.push(...batch);
    if (events.length >= count) break;
    await each();
  }
  return events;
}

/** Polls until `ask` returns a value. */
export async function until<T>(
  ask: () => Promise<T | undefined> | T | undefined,
  deadlineMs = 120_000 * inject("slowness"),
): Promise<T> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error("The state did not come.");
    await delay(10);
  }
}

export const numbers = (count: number, from = 1): number[] => Array.from({ length: count }, (_, index) => from + index);
