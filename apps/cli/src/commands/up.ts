import { TandemError } from "@tandem/protocol";
import { DEFAULT_TENANT } from "@tandem/storage";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { holderName, loadServer, openStore, probeLogin, sessionRoots, startServer } from "@tandem/tandem/compose";
import { databaseName, ensureTandemHome, type Project } from "@tandem/tandem/config";
import type { Context } from "../context.ts";
import { openProjectOrDefaults, sessionPayerOf } from "@tandem/tandem/project";
import { type FleetOptions, innerDoor, type Joined, openMembership } from "@tandem/tandem/fleet";
import type { DemoChoice } from "../option-choices.ts";
import { toPort } from "../port.ts";
import { Progress } from "../progress.ts";
import { announce } from "../server/announce.ts";
import { findServer, LogFile, logFolder, observe, writeServerFile } from "@tandem/tandem/server";
import { takeCare } from "@tandem/tandem/health";
import { composeRealm, createTenantOffice, stopEveryone, TenantRealms } from "@tandem/tandem/tenants";

/** For what is left to do once the turns have ended. */
const REST_MS = 5_000;
const CLOSE_MS = 2_000;
const PROBE_MS = 10_000;

export interface UpOptions extends FleetOptions {
  port?: string;
  demo?: DemoChoice | true;
}

/** The server, until it is asked to stop. What was set up is taken down in the opposite order, whatever happens. */
export async function up(context: Context, options: UpOptions): Promise<number> {
  const port = options.port === undefined ? undefined : toPort(options.port);
  const project = await openProjectOrDefaults(context);
  const { stopWithin } = project.config.server;
  await refuseSecond(context);
  await using parts = new AsyncDisposableStack();
  using progress = new Progress(context, "Starting …");

  const home = await ensureTandemHome(context.env);
  const room = await loadServer();
  const log = parts.use(new LogFile(logFolder(context.env)));
  const write = (line: string): void => {
    log.write(line);
    // On a terminal, they would scroll the address away; `tandem logs` shows them.
    if (!context.stdout.isTTY) context.stderr.write(line);
  };
  const logger = room.createLogger({ destination: { write } });

  const store = parts.use(await openStore(context, project));
  const demo = (await isDemoWanted(context, project, options.demo)) ? parts.use(await startDemo()) : undefined;
  const caretaker = takeCare(context, project, { demo: demo !== undefined });
  const lent = demo && { credential: demo.credential };
  const payer = demo ? "nobody" : sessionPayerOf(project.config.llm);
  const member = await openMembership(context, project, store, {
    ...{ options, payer, log: logger },
    limitOf: (tenant) => realms.limitOf(tenant),
  });
  if (member) parts.use(member);
  const seen = parts.use(await observe(context, project, member?.holder ?? holderName("tandem up")));
  const own = parts.use(
    await composeRealm(context, project, store, {
      ...{ tenant: { id: DEFAULT_TENANT, name: DEFAULT_TENANT }, logger, caretaker, observe: seen.watch, ...lent },
      ...member?.realmOf(DEFAULT_TENANT, store),
    }),
  );
  const { engine } = own;
  const realms = parts.use(
    new TenantRealms({
      context,
      project,
      store,
      logger,
      own,
      observe: seen.watch,
      ...lent,
      ...(member && { fleetOf: member.realmOf, ownPerson: member.owner, serves: member.tenants }),
    }),
  );
  const tokenFile = join(home, "token");
  const { warning } = await room.ensureToken(tokenFile, store.tokens);
  if (warning) logger.warn(warning);
  // Listens before it takes up what others have left: a server that finds its port taken must not touch a session.
  const server = await startServer(project, {
    ...own,
    engine: { ...engine, killSwitch: stopEveryone(engine.killSwitch, store, () => realms.open) },
    ...{ realms, logger, version: context.version, ...innerDoor(project, { options, port }) },
    ...{ metrics: seen.metrics, tracing: seen.tracing },
    office: createTenantOffice(context.env, store, (note) => engine.audit.note(note), realms),
  });
  parts.defer(() => server.close(CLOSE_MS));
  let joined: Joined | undefined;
  parts.defer(() => joined?.leave(REST_MS));
  parts.defer(async () => void (await Promise.all([own.stop(stopWithin), realms.stop(stopWithin)])));
  parts.defer(() => joined?.drain());
  parts.defer(() => server.drain());
  context.allowToStop(stopWithin + CLOSE_MS + REST_MS);
  await own.start();
  const drained = new AbortController();
  joined = await member?.join({
    ...{ store, realms, address: server.url, version: context.version, onDrainWish: () => drained.abort() },
    payer,
  });
  const takenUp = realms.takeUp().catch((error: unknown) => logger.warn({ err: error }, "tenants were not looked at"));
  parts.defer(() => takenUp);

  const { tls } = project.config.server;
  const info = {
    url: server.url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:"),
    token_file: tokenFile,
    ...(tls.certificate && { certificate: resolve(project.folder, tls.certificate) }),
    database: databaseName(context.env, project),
    roots: sessionRoots(project),
    payer,
    demo: demo !== undefined,
  };
  parts.use(await writeServerFile(context.env, info));
  logger.info({ url: server.url, demo: info.demo, payer: info.payer }, "up");
  progress[Symbol.dispose]();
  const link = member?.role === "worker" ? undefined : await server.signInLink();
  await using _ = await announce(context, {
    ...{ info, link, member, engine, warning },
    ...{ logFile: log.file, stopWithinMs: stopWithin },
  });
  const ends = AbortSignal.any([context.signal, drained.signal]);
  if (!ends.aborted) await once(ends, "abort");
  logger.info("stopping");
  return 0;
}

async function refuseSecond({ env }: Context): Promise<void> {
  const server = await findServer(env);
  if (!server) return;
  throw new TandemError("already_running", `A server is up already, at ${server.url} (pid ${server.pid}).`, {
    fix: "Use it, stop it with Ctrl-C, or set TANDEM_HOME to another folder for a second one.",
  });
}

/** A demo takes the model's place only where that was asked for, and `if-needed` only where there is no login to use. */
async function isDemoWanted(context: Context, project: Project, demo: UpOptions["demo"]): Promise<boolean> {
  if (demo !== "if-needed") return demo !== undefined;
  if (project.config.llm.claudeCode.auth !== "login") return false;
  const { state } = await probeLogin(context, project, PROBE_MS);
  return state === "logged_out" || state === "expired";
}

const startDemo = async () => (await import("../demo/start-demo.ts")).startDemo();
