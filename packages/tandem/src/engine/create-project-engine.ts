import { readAddedFolders } from "../server/added-folders.ts";
import type { Credential } from "@tandem/claude-code";
import { TandemError } from "@tandem/protocol";
import type { Engine, EngineSettings, WorktreeSettings } from "@tandem/sessions";
import type { Store } from "@tandem/storage";
import { findClaudeCode } from "../project/find-claude-code.ts";
import {
  claudeFolder,
  createMessagesProxy,
  holderName,
  loadClaudeCode,
  loadSessions,
  openNamedConnection,
  secretReader,
  sessionRoots,
  sweepProcesses,
  withAbsolutePaths,
} from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import { ensureTandemHome } from "../config/tandem-home.ts";
import { requireTrust } from "../config/trust.ts";
import type { Host } from "../config/host.ts";
import { PAYERS, sessionPayerOf } from "../project/describe-project.ts";
import { engineControls } from "./engine-controls.ts";
import { offeredModels } from "../models/offered-models.ts";

/**
 * A worker that cannot reach the database pauses its turns after two thirds of this time. Other workers take over after all
 * of it.
 */
const FLEET_TAKEOVER_MS = 10_000;

/** The lease duration: other processes take over the sessions of a process that is silent for longer. */
export const leaseTtlOf = ({ config, settings }: Project, isFleet: boolean): number =>
  isFleet && !settings.some(({ path }) => path === "sessions.takeover") ? FLEET_TAKEOVER_MS : config.sessions.takeover;

export interface EngineOptions {
  /** The command name, shown when another process finds a session locked. */
  command: string;
  log: { warn(details: Record<string, unknown>, message: string): void };
  /** Replaces the configured credential, for the demo. */
  credential?: Credential;
  /** Tools of every session. */
  hostServers?: EngineSettings["hostServers"];
  /** MCP servers supplied by clients. */
  sessionServers?: EngineSettings["sessionServers"];
  /** Additional folders that sessions may work in. */
  folders?: readonly string[];
  /**
   * False for a read-only command: Claude Code's package, which loads slowly, is not imported. `later` imports it with the
   * first turn and uses the cached list of models.
   */
  runs?: boolean | "later";
  /** Ignore the work of other processes. A server picks it up, not this command. */
  ownOnly?: boolean;
  /** Settings that only a server has: tenants and fleet. */
  more?: Partial<
    Pick<
      EngineSettings,
      | "clock"
      | "quotas"
      | "fleet"
      | "jobQueue"
      | "holder"
      | "sharedRecords"
      | "previews"
      | "publicMcpServers"
      | "contextMemories"
      | "tenant"
      | "spareProcesses"
    >
  >;
}

/** Creates the session engine. Sessions always run on Claude Code; the backend setting applies to single calls. */
export async function createProjectEngine(
  host: Host,
  project: Project,
  store: Store,
  {
    command,
    log,
    credential: given,
    hostServers,
    sessionServers,
    folders = [],
    runs = true,
    ownOnly = false,
    more,
  }: EngineOptions,
): Promise<Engine> {
  await requireTrust(host.env, project);
  const stateFolder = await ensureTandemHome(host.env);
  const { checkMode, hostAccount } = await import("@tandem/policy");
  const { createEngine: createProjectEngine, pinHooks } = await loadSessions();
  let library: Awaited<ReturnType<typeof loadClaudeCode>> | undefined;
  const { claudeCode, limits } = withAbsolutePaths(project);
  const { sessions } = project.config;
  const isFleet = more?.fleet !== undefined;
  const isSet = (path: string): boolean => project.settings.some((setting) => setting.path === path);
  const hostVariables = host.env;
  if (runs) checkMode(sessions.permissionMode, hostAccount(hostVariables), "sessions.permissionMode");
  const readSecret = secretReader(host, project);
  const load = async () => (library ??= await loadClaudeCode());
  // A conversation is opened with a credential, so that reading one also loads the library.
  const credential = async () => {
    const library = await load();
    return given ?? library.readCredential(claudeCode, { readSecret, hostVariables });
  };
  const deadlines = {
    spawn: limits.spawn,
    init: limits.init,
    firstByte: limits.firstByte,
    idle: limits.idle,
    exit: limits.exit,
  };
  const listModels = async () => {
    const pool = { ...project.config.llm.pool, mode: "off" as const };
    const { ClaudeCode } = await loadClaudeCode();
    await using claude = new ClaudeCode({
      credential: await credential(),
      stateFolder,
      hostVariables,
      executable: claudeCode.executable,
      pool,
      deadlines,
    });
    return await claude.listModels(AbortSignal.timeout(limits.spawn + limits.init));
  };
  const find = () => findClaudeCode(host, project, warnOf(host, log));
  const lastModels = async () => (await loadModels()).fallbackModels(host.env, project);
  const allModels = offeredModels({
    ask: async () => (await loadModels()).askedModels(host, project, listModels, given === undefined),
    kept: async () => (given ? undefined : (await loadModels()).keptModels(host.env, project)),
    fallback: lastModels,
    onFailure: (error) => log.warn({ error: String(error) }, "Claude Code did not list its models"),
  });
  return createProjectEngine(store, {
    executable: runs === true ? await find() : "",
    credential,
    hostVariables,
    stateFolder,
    deadlines,
    idle: sessions.idle,
    recovery: isFleet && more?.fleet?.role !== "all" && !isSet("sessions.recovery") ? "resume" : sessions.recovery,
    quota: { action: sessions.onQuota, windows: sessions.quotaWindows },
    spending: {
      limits: project.config.budgets,
      project: project.folder,
      payer: async () => (given ? PAYERS.nobody : PAYERS[sessionPayerOf(project.config.llm)]),
    },
    leaseTtl: leaseTtlOf(project, isFleet),
    databaseWait: project.config.sessions.databaseWait,
    holder: holderName(command),
    ownOnly,
    mcpTimeout: sessions.mcpTimeout,
    workLease: sessions.workLease,
    ...(hostServers && { hostServers }),
    ...(sessionServers && { sessionServers }),
    ...(host.processes && { processes: { slots: host.processes.sessions, owner: project.folder } }),
    ...engineControls(host, project, readSecret),
    hooks: pinHooks(project.config.hooks, project.folder),
    roots: [...sessionRoots(project), ...folders],
    addedRoots: () => readAddedFolders(host.env),
    worktrees: worktreeSettings(project),
    ...checkpointSettings(project),
    userFolders: [stateFolder, claudeFolder(host.env)],
    models: runs === "later" ? lastModels : allModels,
    openConversation:
      runs === true
        ? (...setup) => (library ?? refuseToRun()).openConversation(...setup)
        : runs === "later"
          ? await openLater(find)
          : refuseToRun,
    ...(runs === true && { prepare: () => void load() }),
    sweep: () => sweepProcesses(host.env),
    // The demo must not cause costs, so it does not use the configured backend.
    ...(!given && { messages: () => createMessagesProxy(host, project) }),
    graderQueries: {
      names: () => Object.keys(project.config.connections),
      run: async (name, query, signal) => {
        await using connection = await openNamedConnection(host, project, name);
        return await connection.query(query, { signal });
      },
    },
    log,
    ...more,
  });
}

const loadModels = () => import("../models/engine-models.ts");

async function openLater(find: () => Promise<string>) {
  const { lazyConversation } = await import("./lazy-conversation.ts");
  return lazyConversation(async () => ({ ...(await loadClaudeCode()), executable: await find() }));
}

function refuseToRun(): never {
  throw new TandemError("unexpected", "This command runs no sessions.");
}

/** Warns on the terminal and in the log. */
const warnOf =
  (host: Host, log: EngineOptions["log"]) =>
  (words: string): void => {
    host.warn?.(words);
    log.warn({}, words);
  };

const MB = 1024 * 1024;

/** Settings for checkpoints and compaction. */
function checkpointSettings({
  config: { checkpoints, sessions },
}: Project): Pick<EngineSettings, "checkpoints" | "compactAt"> {
  const { enabled, maxFiles, maxFileMb, maxTotalMb, keep } = checkpoints;
  const limits = { maxFiles, maxFileBytes: maxFileMb * MB, maxTotalBytes: maxTotalMb * MB, keepMs: keep };
  return {
    ...(enabled && { checkpoints: limits }),
    ...(sessions.compactAt !== undefined && { compactAt: sessions.compactAt }),
  };
}

/** Worktree settings. The caller has checked that the setup command is trusted. */
function worktreeSettings({ config: { worktrees } }: Project): WorktreeSettings {
  const { copy, setup, setupTimeout: setupTimeoutMs, ports, removeAtArchive } = worktrees;
  return { copy, setup, setupTimeoutMs, ports, removeAtArchive };
}
