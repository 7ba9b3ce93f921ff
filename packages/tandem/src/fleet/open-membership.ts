import { newId, TandemError, type Payer, type WorkerId, systemClock } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import { hostname } from "node:os";
import { holderName, loadProcesses, loadQueue, loadServer, loadSessions, sessionRoots } from "../compose.ts";
import { storeLocation } from "../config/store-location.ts";
import type { Project } from "../config/load-project.ts";
import { ensureTandemHome, tandemHome } from "../config/tandem-home.ts";
import type { Host } from "../config/host.ts";
import { leaseTtlOf } from "../engine/create-project-engine.ts";
import { ownerOfLogin, type FleetRole } from "./login-rule.ts";
import type { OpenTenantRuntime, TenantRuntimeOptions } from "../tenants/open-tenant-runtime.ts";
import { namedExecutable } from "../project/find-claude-code.ts";
import { workerProblem, type WorkerNeeds } from "./worker-problem.ts";
import type { LocalTenantRuntimes } from "../tenants/local-tenant-runtimes.ts";

export interface FleetOptions {
  as?: FleetRole;
  label?: string[];
  maxSessions?: string;
  machine?: string;
  tenant?: string[];
  advertise?: string;
}

type Log = { warn(details: Record<string, unknown>, message: string): void };

/** This process as a member of the fleet. */
export interface Membership extends AsyncDisposable {
  readonly id: WorkerId;
  readonly role: FleetRole;
  readonly machine: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly holder: string;
  readonly maxSessions: number;
  /** Tenants whose sessions it runs. Null means all. */
  readonly tenants: readonly string[] | null;
  /** The tenant that owns this machine's personal login: see `ownerOfLogin`. */
  readonly owner: string | undefined;
  /** For its HTTP server. */
  readonly promiseNoTakeover: () => void;
  /** Passed to each tenant's runtime. */
  readonly runtimeOptions: (tenant: string, store: Store) => Pick<TenantRuntimeOptions, "engine" | "fleet" | "runs">;
  /** Keeps a row for others to see, and takes runs for all runtimes, from now on. */
  join(parts: {
    store: Store;
    runtimes: Pick<LocalTenantRuntimes, "of" | "open">;
    address: string;
    version: string;
    payer: Payer | "nobody";
    hasContext: () => boolean;
    onDrainRequest: () => void;
  }): Promise<Joined>;
}

export interface Joined {
  /** Stops accepting work and announces it to the fleet. */
  drain(): Promise<void>;
  /** Called after the engines have stopped. */
  leave(deadlineMs: number): Promise<void>;
}

/** Undefined without a fleet: only one process uses a database file. */
export async function openMembership(
  host: Host,
  project: Project,
  store: Store,
  {
    options,
    payer: pays,
    limitOf,
    log,
  }: { options: FleetOptions; payer: Payer | "nobody"; limitOf: (tenant: string) => number; log: Log },
): Promise<Membership | undefined> {
  const { fleet } = project.config;
  const role = options.as ?? fleet.role;
  if ((await store.describe()).engine === "sqlite") {
    const { label, maxSessions: max, machine: name, tenant, advertise } = options;
    const [flag] = Object.entries({ label, "max-sessions": max, machine: name, tenant, advertise }).find(
      ([, value]) => value !== undefined,
    ) ?? [undefined];
    if (role === "all" && flag === undefined) return undefined;
    const who = role === "all" ? `--${flag}` : `A ${role}`;
    throw new TandemError("usage", `${who} needs a shared database, but this one is a local file.`, {
      fix: "Set storage.url in tandem.yaml, or DATABASE_URL, to a Postgres database.",
    });
  }
  const machine = options.machine ?? host.env["TANDEM_MACHINE"] ?? fleet.machine ?? hostname();
  const labels = { ...fleet.labels, ...readLabels(options.label ?? []) };
  const tenants = options.tenant ?? fleet.tenants ?? null;
  const owner = ownerOfLogin(role, tenants, pays);
  const maxSessions =
    namedMaxSessions(project, options) ?? Math.min(fleet.maxSessions, host.processes?.sessions.limit ?? Infinity);
  const id = newId("worker");
  const holder = `${holderName("tandem up")} ${id}`;
  const { location, directUrl } = await storeLocation(host, project);
  const { openPostgresQueue } = await loadQueue();
  const queue = await openPostgresQueue(location, {
    directUrl,
    limitOf,
    // A run blocks its session: a worker must not hold it for longer than the session's lease.
    silentMs: leaseTtlOf(project, true),
    onTrouble: (error) => log.warn({ error: String(error) }, "the queue cannot be reached"),
  });
  const worker = { id, machine, labels, tenants };
  const { RecentOutage, SharedClock } = await loadSessions();
  const clock = new SharedClock(systemClock);
  await clock.follow(() => store.workers.time());
  const { HttpPeers, SharedKey } = await loadServer();
  const key = new SharedKey(store.records);
  const peers = new HttpPeers({ workers: store.workers, self: id, key, log });
  const outage = new RecentOutage(clock);
  return {
    ...worker,
    role,
    holder,
    maxSessions,
    owner,
    promiseNoTakeover: () => outage.promise(),
    runtimeOptions: (tenant, own) => ({
      engine: { fleet: { queue, role, tenant, worker, maxSessions, peers, outage }, holder, clock },
      fleet: { holder, role, store: own },
      // The `server` role runs no turns and needs no Claude Code.
      ...(role === "server" && { runs: "later" }),
    }),
    async join({ store: shared, runtimes, address, version, payer, hasContext, onDrainRequest }) {
      const { FleetMember } = await loadSessions();
      const needs: WorkerNeeds | undefined =
        role === "server"
          ? undefined
          : { executable: await executableOf(project), folders: [tandemHome(host.env), ...sessionRoots(project)] };
      const member = new FleetMember({
        store: shared,
        queue,
        log,
        clock,
        sharedClock: clock,
        peers,
        ...(needs && { findProblem: () => workerProblem(needs) }),
        hasContext,
        onDrainRequest,
        open: () => runtimes.open.map(({ engine }) => engine.runs),
        runsOf: async (tenant) => (await runtimeIn(runtimes, tenant)).engine.runs,
        row: {
          ...worker,
          holder,
          role,
          maxSessions,
          roots: sessionRoots(project),
          version,
          payer,
          address: options.advertise ?? fleet.advertise ?? address,
          startedAt: new Date().toISOString(),
        },
      });
      const guardian = role === "server" ? undefined : await startGuardian(host, leaseTtlOf(project, true));
      await member.start();
      return {
        drain: () => member.drain(),
        async leave(deadlineMs) {
          await member.stop(deadlineMs);
          guardian?.[Symbol.dispose]();
        },
      };
    },
    [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
  };
}

/** How many sessions a worker may hold, if the operator has said so. */
export function namedMaxSessions({ config, settings }: Project, { maxSessions }: FleetOptions): number | undefined {
  if (maxSessions !== undefined) return readCount(maxSessions);
  return settings.some(({ path }) => path === "fleet.maxSessions") ? config.fleet.maxSessions : undefined;
}

const executableOf = async (project: Project): Promise<string> =>
  (await loadProcesses()).findExecutable(namedExecutable(project));

/** Kills the turns of a halted process before its leases expire and others take over its sessions. */
async function startGuardian({ env }: Host, leaseTtl: number) {
  const { Guardian } = await loadProcesses();
  return new Guardian(await ensureTandemHome(env), leaseTtl / 2);
}

async function runtimeIn(runtimes: Pick<LocalTenantRuntimes, "of">, tenant: string): Promise<OpenTenantRuntime> {
  const runtime = await runtimes.of(tenant);
  if (runtime) return runtime;
  throw new TandemError("unexpected", `The tenant ${tenant} no longer exists.`);
}

/** The address for requests from other fleet members. A worker serves no users, so its port may be arbitrary. */
export function memberAddress(
  project: Project,
  { options, port }: { options: FleetOptions; port: number | undefined },
) {
  const { fleet, server } = project.config;
  const advertised = options.advertise ?? fleet.advertise;
  const role = options.as ?? fleet.role;
  const url = advertised === undefined ? undefined : readUrl(advertised);
  return {
    port:
      port ?? (url ? Number(url.port || (url.protocol === "https:" ? 443 : 80)) : role === "worker" ? 0 : undefined),
    // Members send the advertised host name.
    allowedHosts: [...server.allowedHosts, ...(url ? [url.hostname] : [])],
  };
}

function readLabels(labels: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    labels.map((label) => {
      const pair = /^([A-Za-z0-9][\w.-]{0,62})=([\w./:-]{1,100})$/.exec(label);
      if (pair) return [pair[1]!, pair[2]!];
      throw new TandemError("usage", `"${label}" is not a label.`, {
        fix: "Write NAME=VALUE, such as --label gpu=yes.",
      });
    }),
  );
}

function readCount(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new TandemError("usage", `"${text}" is not a number of sessions.`, { fix: "Give a number of at least 1." });
}

function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new TandemError("usage", `"${text}" is not an address that other machines can reach.`, {
    fix: "Write it as http://HOST:PORT.",
  });
}
