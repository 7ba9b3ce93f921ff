import type { Connection, DatabaseLocation } from "@tandem/connectors";
import type { Context as Knowledge, LlmSource } from "@tandem/context";
import { type CallReport, type LlmConfig, type MessagesProxy, TandemError } from "@tandem/protocol";
import type { Embedder, LlmBackend, LlmRuntime, SharedQuotas } from "@tandem/runtime";
import type { RunningServer, ServerOptions, Telemetry } from "@tandem/server";
import type { Store } from "@tandem/storage";
import { existsSync, readdirSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { findClaudeCode, namedExecutable } from "./project/find-claude-code.ts";
import { connectionLocation, findConnection } from "./config/connection-location.ts";
import { storeLocation } from "./config/store-location.ts";
import type { Project } from "./config/load-project.ts";
import { resolveSecret, resolveToken } from "./config/resolve-secret.ts";
import { ensureTandemHome, tandemHome, type Variables } from "./config/tandem-home.ts";
import { requireTrust } from "./config/trust.ts";
import type { Host } from "./config/host.ts";
import { userName } from "./project/local-actor.ts";
import { serverSettings } from "./config/server-settings.ts";

// Wires the packages that a project's config chooses and sets up: backend, store, context, server. A command that needs a
// function of one package, without a config, imports it itself. Each package is imported on first use: loading all of them
// takes longer than most commands run.

/** Creates the configured backend. Throws in an untrusted folder. */
export async function createBackend(host: Host, project: Project): Promise<LlmBackend> {
  await requireTrust(host.env, project);
  await useProxy(host.env);
  const runtime = await import("@tandem/runtime");
  const config = withAbsolutePaths(project);
  if (config.provider.backend === "claude-code") await findClaudeCode(host, project, host.warn);
  return runtime.createBackend(config, {
    readSecret: secretReader(host, project),
    stateFolder: await ensureTandemHome(host.env),
    hostVariables: host.env,
    ...(host.processes && { processLimit: { slots: host.processes.calls, owner: project.folder } }),
  });
}

/** Creates a runtime on the configured backend. `onReport` gets the report of each call. */
export async function createRuntime(
  host: Host,
  project: Project,
  onReport: (report: CallReport) => void,
  quotas?: SharedQuotas,
): Promise<LlmRuntime> {
  const [backend, runtime] = [await createBackend(host, project), await import("@tandem/runtime")];
  return runtime.createRuntime({ config: project.config.llm, backend, sink: onReport, ...(quotas && { quotas }) });
}

/** Connects the Messages API to the configured backend, or rejects with the reason why that has none. */
export async function createMessagesProxy(host: Host, project: Project): Promise<MessagesProxy> {
  await requireTrust(host.env, project);
  await useProxy(host.env);
  const runtime = await import("@tandem/runtime");
  return runtime.createMessagesProxy(project.config.llm, { readSecret: secretReader(host, project) });
}

/** Asks the Claude Code binary for the state of the user's login. Spends no tokens and does not refresh the login. */
export async function probeLogin(host: Host, project: Project, deadlineMs: number) {
  await requireTrust(host.env, project);
  const claudeCode = await loadProcesses();
  return claudeCode.probeLogin({
    hostVariables: host.env,
    executable: await findClaudeCode(host, project),
    deadlineMs,
    signal: host.signal,
    // Beside the compile cache.
    cacheFile: join(tandemHome(host.env), "cache", "login.json"),
  });
}

/** Kills the processes that crashed runs left behind and returns their pids. */
export async function sweepProcesses(env: Variables): Promise<{ killed: number[]; left: number[] }> {
  const folder = ledgerWithEntries(env);
  if (folder === undefined) return { killed: [], left: [] };
  const { ProcessLedger } = await loadProcesses();
  return new ProcessLedger(folder).sweep();
}

/** Whether Claude Code runs in a pid namespace on this machine. */
export async function readProcessNamespace(): Promise<{ on: boolean; reason?: string }> {
  const { processNamespace } = await loadProcesses();
  const namespace = processNamespace();
  return namespace.on ? { on: true } : namespace;
}

/** Finds orphaned Claude Code processes without ending them. */
export async function findOrphans(env: Variables): Promise<number[]> {
  const folder = ledgerWithEntries(env);
  if (folder === undefined) return [];
  const { ProcessLedger } = await loadProcesses();
  return new ProcessLedger(folder).orphans().map(({ pid }) => pid);
}

/**
 * Returns the process ledger if it has entries. After an orderly exit it is empty, and the claude-code package need not be
 * loaded.
 */
function ledgerWithEntries(env: Variables): string | undefined {
  const folder = join(tandemHome(env), "processes");
  return existsSync(folder) && readdirSync(folder).length > 0 ? folder : undefined;
}

/** Opens the store. Throws in an untrusted folder. `meanwhile` runs while the store opens. */
export async function openStore(host: Host, project: Project, meanwhile?: () => void): Promise<Store> {
  await requireTrust(host.env, project);
  const { location, directUrl } = await storeLocation(host, project);
  await ensureTandemHome(host.env);
  const storage = await import("@tandem/storage");
  return storage.openStore(location, { directUrl, onWait: meanwhile });
}

/** Opens a configured database connection. Throws in an untrusted folder. */
export async function openNamedConnection(host: Host, project: Project, name: string): Promise<Connection> {
  const place = await namedLocation(host, project, name);
  const { openConnection } = await import("@tandem/connectors");
  return openConnection(place);
}

/** Where a connection's database is, with its secrets resolved. */
export async function namedLocation(host: Host, project: Project, name: string): Promise<DatabaseLocation> {
  const connection = findConnection(project, name);
  await requireTrust(host.env, project);
  const { env, signal } = host;
  return await connectionLocation(name, connection, { env, folder: project.folder, signal });
}

/** Opens the project's context: its folder, its proposals and its search index. */
export async function openContext({ config, folder }: Project, store: Store, embedder?: Embedder): Promise<Knowledge> {
  const library = await loadContext();
  const { folder: path, search, ...context } = config.context;
  // All tokens of a server belong to one user: the account that runs it.
  const user = userName();
  return library.openContext({ path: resolve(folder, path), ...context, ...search, store, embedder, user });
}

/** The id of the project's context, under which the store keeps everything about it. Needs no store. */
export async function contextId({ config, folder }: Project): Promise<string> {
  const { openContextFolder } = await loadContext();
  const { folder: path, git } = config.context;
  return (await openContextFolder({ path: resolve(folder, path), git })).id;
}

/** True if the project has a context or sources for one. An unrelated folder of the same name does not count. */
export const hasContext = ({ config, folder }: Project): boolean =>
  Object.keys(config.connections).length > 0 ||
  Object.keys(config.ingest.sources).length > 0 ||
  config.memory.capture !== "off" ||
  existsSync(join(resolve(folder, config.context.folder), "context.yaml"));

/** The search index uses one embedder: that of pages, else that of tables. */
export async function openEmbedder(host: Host, project: Project): Promise<Embedder | undefined> {
  const { ingest, scan } = project.config;
  const config = ingest.embeddings.backend === "none" ? scan.embeddings : ingest.embeddings;
  if (config.backend === "none") return undefined;
  await useProxy(host.env);
  const { createEmbedder } = await import("@tandem/runtime");
  return createEmbedder(config, { readSecret: secretReader(host, project), folder: project.folder });
}

export const loadContext = () => import("@tandem/context");

/** Gives jobs access to a model. Undefined if no backend is configured. */
export async function jobModels(
  host: Host,
  project: Project,
  quotas?: SharedQuotas,
): Promise<{ llm: LlmSource | undefined; modelOf: (role: string) => string }> {
  const { provider, models } = project.config.llm;
  const { resolveModel, roleModels } = await import("@tandem/runtime");
  const byRole = new Map<string, string>(roleModels(models).map(({ role, model }) => [role, model]));
  const { backend } = provider;
  return {
    llm: backend === "none" ? undefined : { backend, open: (sink) => createRuntime(host, project, sink, quotas) },
    modelOf: (role) => resolveModel(backend, byRole.get(role) ?? models.default),
  };
}

export const loadStorage = () => import("@tandem/storage");

/** The user's own Claude Code config folder. */
export const claudeFolder = (env: Variables): string =>
  env["CLAUDE_CONFIG_DIR"] || join(env["HOME"] ?? homedir(), ".claude");

/** The lease holder's name, shown when another process finds the session locked. */
export const holderName = (command: string): string => `${command} on ${hostname()} (pid ${process.pid})`;

/** Resolves a folder. Throws if the project's sessions may not work there. */
export async function allowedFolder(project: Project, folder: string): Promise<string> {
  const { AllowedRoots } = await import("@tandem/workspace");
  return (await AllowedRoots.open(sessionRoots(project))).resolve(folder);
}

/** The folders that sessions may work in. Paths are relative to the config, not to the current folder. */
export const sessionRoots = ({ config, folder }: Project): string[] =>
  config.sessions.roots.map((root) => resolve(folder, root));

/** Starts the HTTP server. `port` overrides the config. */
export async function startServer(
  project: Project,
  {
    port,
    allowedHosts,
    ...parts
  }: Omit<ServerOptions, "page" | "docs" | "settings"> & {
    port?: number | undefined;
    /** Replaces the configured list. */
    allowedHosts?: string[] | undefined;
  },
): Promise<RunningServer> {
  const library = await import("@tandem/server");
  const page = pageFolder();
  const docs = builtFolder(new URL("../../../docs/dist", import.meta.url));
  const settings = { ...(await serverSettings(project, port)), ...(allowedHosts && { allowedHosts }) };
  return library.startServer({ ...parts, ...(page && { page }), ...(docs && { docs }), settings });
}

/** The folder of the web page, if it was built. */
export const pageFolder = (): string | undefined => builtFolder(new URL("../../../apps/web/dist", import.meta.url));

/** The folder of the web page or of the docs, if it was built. `npm start` builds both, and packages contain them. */
function builtFolder(url: URL): string | undefined {
  const folder = fileURLToPath(url);
  return existsSync(join(folder, "index.html")) ? folder : undefined;
}

/** Exports traces of sessions if a collector is configured. */
export async function startTelemetry(
  { config: { telemetry } }: Project,
  settings: { version: string; instance?: string },
): Promise<Telemetry | undefined> {
  if (telemetry.endpoint === undefined) return undefined;
  const library = await import("@tandem/server");
  return library.startTelemetry({ endpoint: telemetry.endpoint, ...settings });
}

/** Loads the Agent SDK, which takes 100 ms and 15 MB. Only conversations and calls need it. */
export const loadClaudeCode = () => import("@tandem/claude-code");

/** The part of the package without the Agent SDK. */
export const loadProcesses = () => import("@tandem/claude-code/processes");

export const loadImports = async (): ReturnType<Awaited<ReturnType<typeof loadSessions>>["loadImports"]> =>
  (await loadSessions()).loadImports();

export const loadSessions = () => import("@tandem/sessions");

/** Loads only the ACP part of the server package, because an editor waits for the first response. */
export const loadAcp = () => import("@tandem/server/acp");

export const loadQueue = () => import("@tandem/queue");

export const loadServer = () => import("@tandem/server");

/** Returns a function that reads a secret from its configured source. */
export function secretReader(host: Host, project: Project): (reference: string) => Promise<string> {
  const place = { env: host.env, folder: project.folder, signal: host.signal };
  const { credentials } = project.config.llm.provider.vertex;
  return (reference) => {
    if (reference === host.lent?.reference) return host.lent.read();
    // Every other secret is sent in an HTTP header. This one is a JSON file.
    return reference === credentials ? resolveSecret(reference, place) : resolveToken(reference, place);
  };
}

const PROXY_VARIABLES = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];

/** Node's HTTP client ignores HTTPS_PROXY by default, unlike Claude Code. */
async function useProxy(env: Variables): Promise<void> {
  if (!PROXY_VARIABLES.some((name) => env[name])) return;
  // Imported lazily: a top-level import would load Node's whole network stack.
  const { setGlobalProxyFromEnv } = await import("node:http");
  try {
    setGlobalProxyFromEnv(env);
  } catch {
    // Leave out the cause: the proxy address may contain a password.
    throw new TandemError("usage", "The proxy in HTTPS_PROXY or HTTP_PROXY is not a usable address.", {
      fix: "Correct it, for example to http://proxy.example:3128, or unset it.",
    });
  }
}

/** Resolves paths relative to the config, not to the current folder. */
export function withAbsolutePaths(project: Project): LlmConfig {
  const { llm } = project.config;
  const executable = namedExecutable(project);
  return executable === undefined ? llm : { ...llm, claudeCode: { ...llm.claudeCode, executable } };
}
