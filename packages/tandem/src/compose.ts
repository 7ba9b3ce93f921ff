import type { Connection } from "@tandem/connectors";
import type { Context as Knowledge, LlmSource } from "@tandem/context";
import { type CallReport, type LlmConfig, TandemError } from "@tandem/protocol";
import type { Embedder, LlmBackend, LlmRuntime, SharedQuotas } from "@tandem/runtime";
import type { RunningServer, ServerParts, Telemetry } from "@tandem/server";
import type { Store } from "@tandem/storage";
import { existsSync, readdirSync } from "node:fs";
import { homedir, hostname, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { findClaudeCode, namedExecutable } from "./models/claude-binary.ts";
import { connectionPlace, findConnection } from "./config/connection-place.ts";
import { databaseLocation } from "./config/database-location.ts";
import type { Project } from "./config/load-project.ts";
import { resolveSecret, resolveToken } from "./config/resolve-secret.ts";
import { ensureTandemHome, tandemHome, type Variables } from "./config/tandem-home.ts";
import { requireTrust } from "./config/trust.ts";
import type { Host } from "./host.ts";
import { serverSettings } from "./server/server-settings.ts";

// The only place that wires rooms together. Each is loaded when it is needed: together they take longer to load than most
// commands to run.

/** The backend that the project's config names. Refused in a folder that needs trust and does not have it. */
export async function createBackend(context: Host, project: Project): Promise<LlmBackend> {
  await requireTrust(context.env, project);
  await useProxy(context.env);
  const runtime = await import("@tandem/runtime");
  const config = withAbsolutePaths(project);
  if (config.provider.backend === "claude-code") await findClaudeCode(context, project, context.warn);
  return runtime.createBackend(config, {
    readSecret: secretReader(context, project),
    stateFolder: await ensureTandemHome(context.env),
    hostVariables: context.env,
  });
}

/** A runtime on that backend. `onReport` gets what each call took. */
export async function createRuntime(
  context: Host,
  project: Project,
  onReport: (report: CallReport) => void,
  quotas?: SharedQuotas,
): Promise<LlmRuntime> {
  const [backend, runtime] = [await createBackend(context, project), await import("@tandem/runtime")];
  return runtime.createRuntime({ config: project.config.llm, backend, sink: onReport, ...(quotas && { quotas }) });
}

/** What the chosen binary says of the user's own Claude login; nothing is spent and no token renewed. */
export async function probeLogin(context: Host, project: Project, deadlineMs: number) {
  await requireTrust(context.env, project);
  const claudeCode = await import("@tandem/claude-code");
  return claudeCode.probeLogin({
    hostVariables: context.env,
    executable: await findClaudeCode(context, project),
    deadlineMs,
    signal: context.signal,
  });
}

/** Ends what crashed runs have left behind, and says what. */
export async function sweepProcesses(env: Variables): Promise<{ killed: number[]; left: number[] }> {
  const folder = ledgerWithEntries(env);
  if (folder === undefined) return { killed: [], left: [] };
  const { ProcessLedger } = await import("@tandem/claude-code");
  return new ProcessLedger(folder).sweep();
}

/** Claude Code processes whose host has died. They are left as they are. */
export async function findOrphans(env: Variables): Promise<number[]> {
  const folder = ledgerWithEntries(env);
  if (folder === undefined) return [];
  const { ProcessLedger } = await import("@tandem/claude-code");
  return new ProcessLedger(folder).orphans().map(({ pid }) => pid);
}

/** Where processes are written down, if any is: where none is, as after every orderly end, the room is not loaded for it. */
function ledgerWithEntries(env: Variables): string | undefined {
  const folder = join(tandemHome(env), "processes");
  return existsSync(folder) && readdirSync(folder).length > 0 ? folder : undefined;
}

/** All that is durable. Refused in a folder that needs trust and does not have it. `meanwhile`: while it is waited for. */
export async function openStore(context: Host, project: Project, meanwhile?: () => void): Promise<Store> {
  await requireTrust(context.env, project);
  const { location } = await databaseLocation(context, project);
  await ensureTandemHome(context.env);
  const storage = await import("@tandem/storage");
  return storage.openStore(location, meanwhile);
}

/** A database that the config names. Refused in a folder that needs trust and does not have it. */
export async function openNamedConnection(context: Host, project: Project, name: string): Promise<Connection> {
  const connection = findConnection(project, name);
  await requireTrust(context.env, project);
  const { env, signal } = context;
  const place = await connectionPlace(name, connection, { env, folder: project.folder, signal });
  const { openConnection } = await import("@tandem/connectors");
  return openConnection(place);
}

/** The project's reviewed knowledge: its folder, what is proposed for it, and the search over it. */
export async function openContext({ config, folder }: Project, store: Store, embedder?: Embedder): Promise<Knowledge> {
  const room = await loadContext();
  const { folder: path, git, accept } = config.context;
  // One user: whoever's account this runs under. All tokens of a server are theirs.
  return room.openContext({ path: resolve(folder, path), git, accept, store, embedder, user: userInfo().username });
}

/** Whether a project has a context, or something to make one of. A folder that only happens to have its name is none. */
export const hasContext = ({ config, folder }: Project): boolean =>
  Object.keys(config.connections).length > 0 ||
  Object.keys(config.ingest.sources).length > 0 ||
  config.memory.capture !== "off" ||
  existsSync(join(resolve(folder, config.context.folder), "context.yaml"));

/** One for the whole of the search: that of pages, else that of tables. */
export async function openEmbedder(context: Host, project: Project): Promise<Embedder | undefined> {
  const { ingest, scan } = project.config;
  const config = ingest.embeddings.backend === "none" ? scan.embeddings : ingest.embeddings;
  if (config.backend === "none") return undefined;
  await useProxy(context.env);
  const { createEmbedder } = await import("@tandem/runtime");
  return createEmbedder(config, { readSecret: secretReader(context, project), folder: project.folder });
}

/** The room that knows the context; its jobs and its files belong to it. */
export const loadContext = () => import("@tandem/context");

/** How a job comes to a model; without one where no backend is set up. */
export async function jobModels(
  context: Host,
  project: Project,
  quotas?: SharedQuotas,
): Promise<{ llm: LlmSource | undefined; modelOf: (role: string) => string }> {
  const { provider, models } = project.config.llm;
  const { resolveModel, roleModels } = await import("@tandem/runtime");
  const byRole = new Map<string, string>(roleModels(models).map(({ role, model }) => [role, model]));
  const { backend } = provider;
  return {
    llm: backend === "none" ? undefined : { backend, open: (sink) => createRuntime(context, project, sink, quotas) },
    modelOf: (role) => resolveModel(backend, byRole.get(role) ?? models.default),
  };
}

/** The room that keeps: what goes in and out of a store as a whole belongs to it. */
export const loadStorage = () => import("@tandem/storage");

/** Where Claude Code keeps what is the user's own. */
export const claudeFolder = (env: Variables): string =>
  env["CLAUDE_CONFIG_DIR"] || join(env["HOME"] ?? homedir(), ".claude");

/** Who writes a session, in words for whoever finds it held. */
export const holderName = (command: string): string => `${command} on ${hostname()} (pid ${process.pid})`;

/** A folder's real path, if sessions of the project may work there. */
export async function allowedFolder(project: Project, folder: string): Promise<string> {
  const { AllowedRoots } = await import("@tandem/workspace");
  return (await AllowedRoots.open(sessionRoots(project))).resolve(folder);
}

/** Where sessions may work: relative to the config, wherever the command was started. */
export const sessionRoots = ({ config, folder }: Project): string[] =>
  config.sessions.roots.map((root) => resolve(folder, root));

/** Serves that engine. `port` goes before the config's. */
export async function startServer(
  project: Project,
  {
    port,
    allowedHosts,
    ...parts
  }: Omit<ServerParts, "page" | "settings"> & {
    port?: number | undefined;
    /** Instead of the config's. */
    allowedHosts?: string[] | undefined;
  },
): Promise<RunningServer> {
  const room = await import("@tandem/server");
  const page = pageFolder();
  const settings = { ...(await serverSettings(project, port)), ...(allowedHosts && { allowedHosts }) };
  return room.startServer({ ...parts, ...(page && { page }), settings });
}

/** The page, where it has been built: `npm start` does that, and packages have it. */
function pageFolder(): string | undefined {
  const folder = fileURLToPath(new URL("../../../apps/web/dist", import.meta.url));
  return existsSync(join(folder, "index.html")) ? folder : undefined;
}

/** Traces of sessions, where a collector is named. */
export async function startTelemetry(
  { config: { telemetry } }: Project,
  settings: { version: string; instance?: string },
): Promise<Telemetry | undefined> {
  if (telemetry.endpoint === undefined) return undefined;
  const room = await import("@tandem/server");
  return room.startTelemetry({ endpoint: telemetry.endpoint, ...settings });
}

/** The room that knows Claude Code: what it has written for itself is read there. */
export const loadClaudeCode = () => import("@tandem/claude-code");

/** Sessions out of what Claude Code has written for itself or for others. */
export const loadImports = async () => (await loadSessions()).loadImports();

/** The room that runs them. */
export const loadSessions = () => import("@tandem/sessions");

/** Of that room, only what speaks ACP: an editor waits for its first answer. */
export const loadAcp = () => import("@tandem/server/acp");

/** The room that carries runs to workers. */
export const loadQueue = () => import("@tandem/queue");

/** The room that serves; its tokens and its logger belong to it. */
export const loadServer = () => import("@tandem/server");

/** Reads a secret from where the config says that it is kept. */
export function secretReader(context: Host, project: Project): (reference: string) => Promise<string> {
  const place = { env: context.env, folder: project.folder, signal: context.signal };
  const { credentials } = project.config.llm.provider.vertex;
  return (reference) => {
    if (reference === context.lent?.reference) return context.lent.read();
    // All but this one, a JSON file, travel in a header.
    return reference === credentials ? resolveSecret(reference, place) : resolveToken(reference, place);
  };
}

/** Node's own requests do not heed HTTPS_PROXY by themselves; Claude Code's do. */
async function useProxy(env: Variables): Promise<void> {
  // Not at the top: importing this module loads all that Node knows of the network.
  const { setGlobalProxyFromEnv } = await import("node:http");
  try {
    setGlobalProxyFromEnv(env);
  } catch {
    // Without the cause's words: a proxy's address may hold a password.
    throw new TandemError("usage", "The proxy in HTTPS_PROXY or HTTP_PROXY is not a usable address.", {
      fix: "Correct it, for example to http://proxy.example:3128, or unset it.",
    });
  }
}

/** Relative to the config, wherever the command was started. */
export function withAbsolutePaths(project: Project): LlmConfig {
  const { llm } = project.config;
  const executable = namedExecutable(project);
  return executable === undefined ? llm : { ...llm, claudeCode: { ...llm.claudeCode, executable } };
}
