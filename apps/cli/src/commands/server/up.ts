import { once } from "node:events";
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { closeTimeOf, openTandem } from "@tandem/tandem";
import { openStore, probeLogin, sessionRoots } from "@tandem/tandem/compose";
import { databaseName, type Project } from "@tandem/tandem/config";
import type { FleetOptions } from "@tandem/tandem/fleet";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { containsState, containsStateError, readAddedFolders, addFolder, findServer } from "@tandem/tandem/server";
import { readSandboxOverview, sandboxNotice } from "@tandem/tandem/health";
import { shrinkHeapWhenIdle } from "@tandem/storage/shrink-heap";
import { TandemError } from "@tandem/protocol";
import { type Command, Option } from "commander";
import type { Invocation } from "../../invocation.ts";
import { toPort } from "../../number-options.ts";
import { Progress } from "../../progress.ts";
import { announceServer } from "../../server/announce-server.ts";
import { hasBrowser, openInBrowser } from "../../server/open-browser.ts";
import type { Registration } from "../registration.ts";
import { DEMO_CHOICES, type DemoChoice, FLEET_ROLE_CHOICES } from "../../option-choices.ts";
import { canAsk, choose } from "../../input/choose.ts";
import { isWithin } from "../../sessions/find-session.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  command
    .option("--port <number>", "port; 0 selects a free one (default: server.port, 4760)")
    .addOption(
      new Option(
        "--demo [when]",
        "start the demo, a shop with scripted answers: always, or only without a Claude login and sessions",
      )
        .choices(DEMO_CHOICES)
        .preset("always"),
    )
    .option(
      "--opencode [port]",
      "also serve opencode's clients on this loopback port (default: server.opencodePort, 4096)",
    )
    .option("--no-open", "do not open the page in the browser")
    .addOption(
      new Option(
        "--as <role>",
        "role in a fleet: serve clients, run turns and jobs, or both (default: fleet.role, all)",
      ).choices(FLEET_ROLE_CHOICES),
    )
    .option("--label <name=value...>", "label that environments can require, in addition to fleet.labels")
    .option("--max-sessions <number>", "maximum number of concurrent sessions (default: fleet.maxSessions, 20)")
    .option("--machine <name>", "name of this machine (default: TANDEM_MACHINE, fleet.machine or the host name)")
    .option("--tenant <id...>", "accept only sessions of these tenants (default: fleet.tenants or all)")
    .option("--advertise <url>", "address of this process for the fleet (default: fleet.advertise or loopback)")
    .addOption(json())
    .action(runner(up));
  examples(
    command,
    "tandem up",
    "tandem up --port 0 --json",
    "tandem up --demo",
    "tandem up --opencode",
    "tandem up --as worker --max-sessions 8 --label gpu=yes",
  );
}

const PROBE_MS = 10_000;

export interface UpOptions extends FleetOptions {
  port?: string;
  demo?: DemoChoice | true;
  opencode?: string | true;
  open?: boolean;
}

/** Runs the server until it should stop. */
export async function up(invocation: Invocation, options: UpOptions): Promise<number> {
  const port = options.port === undefined ? undefined : toPort(options.port);
  if (options.as === undefined && (await useRunningServer(invocation))) return 0;
  using progress = new Progress(invocation, "Starting …");
  const choice = await chooseServer(invocation, options.demo);
  await using demo = choice === "demo" ? await loadDemo(invocation) : undefined;
  const host = { ...invocation, ...demo?.host };
  const project = await openProjectOrDefaults(host);
  if (!demo) await refuseOwnState(invocation, project);
  invocation.allowToStop(closeTimeOf(project));
  await using tandem = await openTandem({
    ...host,
    project,
    port,
    opencodePort: opencodePortOf(options.opencode, project),
    fleet: options,
    demo: demo?.options,
    // On a terminal, log lines would scroll the address away. `tandem logs` shows them.
    log: invocation.stdout.isTTY ? undefined : (line) => invocation.stderr.write(line),
  });
  progress[Symbol.dispose]();
  const { info, member, engine, logFile, stopRequested, hasPage } = tandem;
  const warning = choice === "without_login" ? NO_LOGIN : tandem.warning;
  // A worker's page is not meant for users.
  const link = member?.role === "worker" ? undefined : await tandem.signInLink();
  const { stdout, json, env } = invocation;
  const wantsBrowser = options.open !== false && stdout.isTTY && !json && hasBrowser(env);
  const isOpened = wantsBrowser && hasPage && link !== undefined && (await openInBrowser(link, env));
  const stopWithinMs = project.config.server.stopWithin;
  const added = demo ? [] : await readAddedFolders(env);
  const news = demo ? undefined : await sandboxNotice(env, project.settings, await readSandboxOverview(host, project));
  const facts = { info, link, hasPage, isOpened, added, member, engine, warning, news, logFile, stopWithinMs };
  await using _ = await announceServer(invocation, facts);
  using __ = shrinkHeapWhenIdle();
  if (!stopRequested.aborted) await once(stopRequested, "abort");
  return 0;
}

/** The port of opencode's own server. */
const OPENCODE_PORT = 4096;

function opencodePortOf(named: UpOptions["opencode"], { config }: Project): number | undefined {
  if (named === undefined) return undefined;
  return named === true ? (config.server.opencodePort ?? OPENCODE_PORT) : toPort(named);
}

/** A server whose only folder contains its own tokens would refuse every session. */
async function refuseOwnState({ env }: Invocation, project: Project): Promise<void> {
  for (const root of sessionRoots(project)) {
    if (root === project.folder && (await containsState(env, root))) throw containsStateError(env, root);
  }
}

const NO_LOGIN =
  "No valid Claude login was found, so sessions cannot run. Log in with `tandem login`. For the demo: `tandem up --demo`.";

/**
 * The demo starts only on request. `if-needed` starts it only without a login, and only if the user has no sessions yet: an
 * expired login must not hide them.
 */
async function chooseServer(
  invocation: Invocation,
  demo: UpOptions["demo"],
): Promise<"own" | "demo" | "without_login"> {
  if (demo !== "if-needed") return demo === undefined ? "own" : "demo";
  const project = await openProjectOrDefaults(invocation);
  if (project.config.llm.claudeCode.auth !== "login") return "own";
  const { state } = await probeLogin(invocation, project, PROBE_MS);
  if (state !== "logged_out" && state !== "expired") return "own";
  return (await hasSessions(invocation, project)) ? "without_login" : "demo";
}

async function hasSessions(invocation: Invocation, project: Project): Promise<boolean> {
  const database = databaseName(invocation.env, project);
  // Opening the store would create the file.
  if (isAbsolute(database) && !existsSync(database)) return false;
  await using store = await openStore(invocation, project);
  return (await store.sessions.list({ limit: 1, includeArchived: true })).data.length > 0;
}

const loadDemo = async (invocation: Invocation) => (await import("../../demo/open-demo.ts")).openDemo(invocation);

/**
 * Offers to use the server that is already running. Returns false if there is none. Without a terminal it throws, and the
 * error names the commands.
 */
async function useRunningServer(invocation: Invocation): Promise<boolean> {
  const { env, cwd } = invocation;
  const server = await findServer(env);
  if (!server) return false;
  const name = server.demo ? "The demo" : "A server";
  const message = `${name} is already running at ${server.url} (pid ${server.pid}).`;
  const isIncluded =
    server.demo || [...server.roots, ...(await readAddedFolders(env))].some((root) => isWithin(root, cwd));
  if (!canAsk(invocation)) {
    const add = isIncluded ? "" : " Add this folder to it: `tandem folders add`.";
    throw new TandemError("already_running", message, {
      fix: `Open it: \`tandem open\`.${add} Or stop it with Ctrl-C, or set TANDEM_HOME to another folder for a second one.`,
    });
  }
  const key = isIncluded
    ? await choose(invocation, message, { o: "open its page", q: "quit" })
    : await choose(invocation, message, {
        o: "open its page",
        a: "add this folder to it and open its page",
        q: "quit",
      });
  if (key === "q") return true;
  if (key === "a") await addFolder(env, cwd);
  const { openPage } = await import("../../server/open-page.ts");
  await openPage(invocation, { browser: true });
  return true;
}
