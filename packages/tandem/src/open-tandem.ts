import type { Credential } from "@tandem/claude-code";
import { systemClock, TandemError, type Payer } from "@tandem/protocol";
import type { Logger, ServedContext } from "@tandem/server";
import type { Engine } from "@tandem/sessions";
import { DEFAULT_TENANT, type Scope } from "@tandem/storage";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import manifest from "../package.json" with { type: "json" };
import { holderName, loadServer, openStore, pageFolder, sessionRoots, startServer } from "./compose.ts";
import { processLimits } from "./engine/process-limits.ts";
import { storeLocation, databaseName } from "./config/store-location.ts";
import type { Project } from "./config/load-project.ts";
import { ensureTandemHome, type Variables } from "./config/tandem-home.ts";
import {
  memberAddress,
  namedMaxSessions,
  openMembership,
  type FleetOptions,
  type Joined,
  type Membership,
} from "./fleet/open-membership.ts";
import { createServerHealth } from "./health/create-server-health.ts";
import type { Host } from "./config/host.ts";
import { sessionPayerOf } from "./project/describe-project.ts";
import { localActor } from "./project/local-actor.ts";
import { openProjectOrDefaults } from "./project/open-project.ts";
import { LogFile, logFolder } from "./server/log-file.ts";
import { observe } from "./server/observe.ts";
import { findServer, writeServerFile, type ServerInfo } from "./server/server-file.ts";
import { openTenantRuntime } from "./tenants/open-tenant-runtime.ts";
import { LocalTenantRuntimes } from "./tenants/local-tenant-runtimes.ts";
import { stopEveryone } from "./tenants/stop-everyone.ts";
import { createTenantService } from "./tenants/create-tenant-service.ts";

/** Time for the rest of a shutdown once the turns have ended. */
const REST_MS = 5_000;
const CLOSE_MS = 2_000;
/** How long to wait for Postgres between two attempts to start. */
const RETRY_MS = 1_000;
/** While waiting for Postgres, every tenth attempt is logged. */
const LOGGED_TRIES = 10;
const RUN: readonly Scope[] = ["run"];

export interface TandemOptions extends Partial<Omit<Host, "env" | "project">> {
  /** The environment variables that Tandem reads, such as TANDEM_HOME and `env:` secrets. Pass `process.env` for all. */
  env: Host["env"];
  /** A folder, or a project that is loaded already. A folder without a tandem.yaml uses the defaults. */
  project: string | Project;
  /** Replaces `server.port` of the config. 0 takes a free port. */
  port?: number | undefined;
  /** Replaces `server.opencodePort` of the config: the loopback port for opencode's clients. 0 takes a free port. */
  opencodePort?: number | undefined;
  /** Gets each line of the server's log, as JSON. The log file in TANDEM_HOME is written in any case. */
  log?: ((line: string) => void) | undefined;
  /** The role of this process in a fleet. Needs a Postgres database. */
  fleet?: FleetOptions | undefined;
  /** Sessions use a scripted model instead of the configured credential. Nothing is billed. */
  demo?: DemoOptions | undefined;
}

export interface DemoOptions {
  /** Reaches only the scripted model. */
  credential: Credential;
  /** The TANDEM_HOME where commands and clients on this machine look for a server. Default: that of `env`. */
  clientHome?: string;
}

/** A running server. Closing it ends turns within `server.stopWithin` and leaves no process behind. */
export interface Tandem extends AsyncDisposable {
  readonly url: string;
  /** The data that clients on this machine use to find the server: address, token file, database and payer. */
  readonly info: Omit<ServerInfo, "version" | "pid" | "process_start" | "started_at">;
  /** Agents, sessions, approvals and rules, without HTTP. */
  readonly engine: Engine;
  /** The reviewed knowledge, its tools and its jobs. Undefined while the project has none. */
  readonly context: ServedContext | undefined;
  /** Undefined outside of a fleet. */
  readonly member: Membership | undefined;
  readonly logFile: string;
  /** A problem with the server's own token file that the user should see. */
  readonly warning: string | undefined;
  /** Aborted by `signal`, or when the fleet asks this process to drain. The caller then calls `close`. */
  readonly stopRequested: AbortSignal;
  /** Creates an API token and returns its secret. Default scope: `run`. `admin` also creates agents and environments. */
  createToken(name: string, options?: { scopes?: readonly Scope[] }): Promise<string>;
  /** False in a clone where the page was not built. */
  readonly hasPage: boolean;
  /** A sign-in link to the page, valid once and for ten minutes. */
  signInLink(): Promise<string>;
  /** Safe to call more than once. */
  close(): Promise<void>;
}

/** How long closing a server of this project takes at most. */
export const closeTimeOf = ({ config }: Project): number => config.server.stopWithin + CLOSE_MS + REST_MS;

/**
 * Starts a server in this process: store, engine, knowledge, tenants, fleet membership and HTTP. While Postgres does not
 * answer, it waits and tries again: the database of a fleet may restart at any time.
 */
export async function openTandem({
  project: given,
  port,
  opencodePort,
  log,
  fleet = {},
  demo,
  ...rest
}: TandemOptions): Promise<Tandem> {
  const host: Host = {
    version: manifest.version,
    cwd: resolve(typeof given === "string" ? given : given.folder),
    signal: new AbortController().signal,
    // Health checks load the project again. They must not look for a file where the defaults are used.
    project: typeof given === "string" ? given : existsSync(given.file) ? given.folder : undefined,
    ...rest,
  };
  const project = typeof given === "string" ? await openProjectOrDefaults(host) : given;
  await refuseSecond(clientVariables(host, demo));
  // The `server` role of a fleet runs no turns.
  if ((fleet.as ?? project.config.fleet.role) !== "server") {
    host.processes = await processLimits(project, namedMaxSessions(project, fleet));
  }
  await ensureTandemHome(host.env);
  const server = await loadServer();
  await using parts = new AsyncDisposableStack();
  const file = parts.use(new LogFile(logFolder(host.env)));
  const write = (line: string): void => {
    file.write(line);
    log?.(line);
  };
  const logger = server.createLogger({ destination: { write } });
  for (let tries = 0; ; tries += 1) {
    try {
      const tandem = await openServer(host, project, { port, opencodePort, fleet, demo, file, logger });
      const logs = parts.move();
      const close = async (): Promise<void> => {
        await tandem.close();
        await logs.disposeAsync();
      };
      return {
        ...tandem,
        get context() {
          return tandem.context;
        },
        close,
        [Symbol.asyncDispose]: close,
      };
    } catch (error) {
      if (host.signal.aborted || !(await isPostgresAway(host, project, error))) throw error;
      if (tries % LOGGED_TRIES === 0) logger.warn({ err: error }, "Postgres does not answer; waiting for it");
      await delay(RETRY_MS, undefined, { signal: host.signal });
    }
  }
}

async function openServer(
  host: Host,
  project: Project,
  {
    port,
    opencodePort = project.config.server.opencodePort,
    fleet = {},
    demo,
    file,
    logger,
  }: Pick<TandemOptions, "port" | "opencodePort" | "fleet" | "demo"> & { file: LogFile; logger: Logger },
): Promise<Tandem> {
  const { stopWithin } = project.config.server;
  const server = await loadServer();
  // Disposed in the opposite order of the setup, also when opening fails halfway.
  await using parts = new AsyncDisposableStack();
  const store = parts.use(await openStore(host, project));
  const health = createServerHealth(host, project, { demo: demo !== undefined });
  const clients = clientVariables(host, demo);
  const lent = demo && { credential: demo.credential };
  const payer: Payer = demo ? "nobody" : sessionPayerOf(project.config.llm);
  const member = await openMembership(host, project, store, {
    options: fleet,
    payer,
    log: logger,
    limitOf: (tenant) => runtimes.limitOf(tenant),
  });
  if (member) parts.use(member);
  const seen = parts.use(await observe(host, project, member?.holder ?? holderName("tandem up")));
  const own = parts.use(
    await openTenantRuntime(host, project, store, {
      tenant: { id: DEFAULT_TENANT, name: DEFAULT_TENANT },
      logger,
      health,
      observe: seen.watch,
      ...lent,
      ...member?.runtimeOptions(DEFAULT_TENANT, store),
    }),
  );
  const runtimes = parts.use(
    new LocalTenantRuntimes({
      host,
      project,
      store,
      logger,
      own,
      observe: seen.watch,
      ...lent,
      ...(member && { fleetOf: member.runtimeOptions, ownPerson: member.owner, serves: member.tenants }),
    }),
  );
  const engine = {
    ...own.engine,
    killSwitch: stopEveryone(own.engine.killSwitch, store, () => runtimes.open, own.clock),
  };
  const tokenFile = join(await ensureTandemHome(clients), "token");
  // Replacing the token of the user's own server would lock out its clients.
  const { warning } = await server.ensureToken(tokenFile, store.tokens, { keep: clients !== host.env });
  if (warning) logger.warn(warning);
  let joined: Joined | undefined;
  // Listen before resuming abandoned sessions: a server that finds its port taken must not touch a session.
  const http = await startServer(project, {
    ...own,
    // The times of a fleet's other servers and of browsers.
    clock: systemClock,
    engine,
    runtimes,
    logger,
    version: host.version,
    isStarting: () => member !== undefined && joined === undefined,
    ...(member && {
      promiseNoTakeover: member.promiseNoTakeover,
      endTaken: (lease) => Promise.all(runtimes.open.map((each) => each.engine.runs.endTaken(lease))),
    }),
    ...memberAddress(project, { options: fleet, port }),
    opencodePort: opencodePortOf(member?.role, opencodePort),
    metrics: seen.metrics,
    tracing: seen.tracing,
    tenantService: createTenantService({
      env: host.env,
      store,
      clock: own.clock,
      note: (note) => own.engine.audit.note(note),
      runtimes,
    }),
  });
  parts.defer(() => http.close(CLOSE_MS));
  parts.defer(() => joined?.leave(REST_MS));
  parts.defer(async () => void (await Promise.all([own.stop(stopWithin), runtimes.stop(stopWithin)])));
  parts.defer(() => joined?.drain());
  parts.defer(() => http.drain());
  await own.start();
  const drained = new AbortController();
  joined = await member?.join({
    store,
    runtimes,
    address: http.url,
    version: host.version,
    hasContext: () => own.context?.() !== undefined,
    onDrainRequest: () => drained.abort(),
    payer,
  });
  const resumed = runtimes
    .resumeTenants()
    .catch((error: unknown) => logger.warn({ err: error }, "tenants were not checked"));
  parts.defer(() => resumed);

  const { tls } = project.config.server;
  const info: Tandem["info"] = {
    url: http.url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:"),
    token_file: tokenFile,
    ...(tls.certificate && { certificate: resolve(project.folder, tls.certificate) }),
    ...(http.opencodeUrl !== undefined && { opencode_url: http.opencodeUrl }),
    database: databaseName(host.env, project),
    roots: sessionRoots(project),
    payer,
    demo: demo !== undefined,
  };
  parts.use(await writeServerFile(clients, info));
  parts.defer(() => logger.info("stopping"));
  logger.info({ url: http.url, demo: info.demo, payer }, "up");

  const owned = parts.move();
  const close = (): Promise<void> => owned.disposeAsync();
  return {
    url: info.url,
    info,
    engine,
    get context() {
      return own.context?.();
    },
    member,
    logFile: file.file,
    warning,
    stopRequested: AbortSignal.any([host.signal, drained.signal]),
    async createToken(name, { scopes = RUN } = {}) {
      const { secret, token } = await server.createToken(store.tokens, { name, scopes });
      const details = { id: token.id, name, scopes: token.scopes };
      await store.audit.append([{ kind: "token.created", actor: localActor(), details }]);
      return secret;
    },
    hasPage: pageFolder() !== undefined,
    signInLink: () => http.signInLink(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The role `server` of a fleet runs no sessions, and a client has to follow them in the process that does. */
function opencodePortOf(role: string | undefined, port: number | undefined): number | undefined {
  if (port === undefined || role !== "server") return port;
  throw new TandemError("usage", "A fleet's `server` cannot serve opencode's clients.", {
    fix: "Start a process with `--as all` for them, or leave out `--opencode` and server.opencodePort.",
  });
}

/** A SQLite file that cannot be opened needs a person; Postgres may be restarting. */
async function isPostgresAway(host: Host, project: Project, error: unknown): Promise<boolean> {
  const storage = await import("@tandem/storage");
  if (!storage.isPostgresAway(error)) return false;
  return /^postgres/i.test((await storeLocation(host, project)).location);
}

const clientVariables = ({ env }: Pick<Host, "env">, demo: DemoOptions | undefined): Variables =>
  demo?.clientHome === undefined ? env : { ...env, TANDEM_HOME: demo.clientHome };

async function refuseSecond(env: Variables): Promise<void> {
  const server = await findServer(env);
  if (!server) return;
  const name = server.demo ? "The demo" : "A server";
  throw new TandemError("already_running", `${name} is already running at ${server.url} (pid ${server.pid}).`, {
    fix: "Use it, stop it with Ctrl-C, or set TANDEM_HOME to another folder for a second one.",
  });
}
