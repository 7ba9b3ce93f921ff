import { TandemError, type Payer, type Trust } from "@tandem/protocol";
import { trustView } from "@tandem/sessions/trust";
import type { Store } from "@tandem/storage";
import { existsSync } from "node:fs";
import { checkAuth, type AuthCheck } from "../models/check-auth.ts";
import { findOrphans, openStore, readProcessNamespace } from "../compose.ts";
import { storeLocation, type StoreLocation } from "../config/store-location.ts";
import type { Project } from "../config/load-project.ts";
import { folderTrust } from "../config/trusted-folders.ts";
import type { Host } from "../config/host.ts";
import { sessionPayerOf } from "../project/describe-project.ts";
import { trustSettings } from "../engine/engine-controls.ts";
import { readSandboxOverview, type SandboxOverview } from "./sandbox-overview.ts";
import { describeUnaskedBash, findUnaskedBash } from "./unasked-bash.ts";
import { readVaultKeyProblem } from "./vault-key-problem.ts";
import { findServer, type ServerInfo } from "../server/server-file.ts";

export type StorageState =
  | {
      state: "ready";
      engine: "sqlite" | "postgres";
      place: string;
      schema: number;
      bytes: number;
      chosen_by: StoreLocation["chosenBy"];
    }
  /** The file is created on first use. */
  | { state: "not_yet"; engine: "sqlite"; place: string; chosen_by: "default" }
  | { state: "failed"; detail: string; fix: string };

export interface SessionsOverview {
  payer: Payer;
  /** Whether the credential for sessions works. Sessions run on Claude Code; the backend setting applies to single calls. */
  auth: AuthCheck;
  storage: StorageState;
  server: ServerInfo | undefined;
  /** Pids of orphaned Claude Code processes. */
  orphans: readonly number[];
  /** Whether sessions load this folder's settings. */
  trust: Trust;
  sandbox: SandboxOverview & { warning?: string };
  /** Why credentials of vaults cannot be used. */
  vaultKey: { detail: string; fix: string } | undefined;
  /** Whether Claude Code runs in a pid namespace, which ends all its processes with it. */
  namespace: { on: boolean; reason?: string };
}

/** Read-only: creates, ends and spends nothing. `callAuth` is the known state of the backend's credential. */
export async function readSessionsOverview(
  host: Host,
  project: Project,
  { deadlineMs, callAuth }: { deadlineMs: number; callAuth: () => Promise<AuthCheck> },
): Promise<SessionsOverview> {
  const isSame = project.config.llm.provider.backend === "claude-code";
  let unasked: readonly string[] = [];
  let hasTenants = false;
  let vaultKey: SessionsOverview["vaultKey"];
  const [auth, storage, server, orphans, trust, namespace] = await Promise.all([
    isSame ? callAuth() : checkSessionAuth(host, project, deadlineMs),
    readStorageState(host, project, async (store) => {
      unasked = await findUnaskedBash(project.config, store);
      hasTenants = await isShared(store);
      vaultKey = await readVaultKeyProblem(host, project, store);
    }),
    findServer(host.env),
    findOrphans(host.env),
    readFolderTrust(host, project),
    readProcessNamespace(),
  ]);
  const probed = await readSandboxOverview(host, project, { hasTenants });
  const sandbox = probed.on || unasked.length === 0 ? probed : { ...probed, warning: describeUnaskedBash(unasked) };
  const payer = sessionPayerOf(project.config.llm);
  return { payer, auth, storage, server, orphans, trust, sandbox, vaultKey, namespace };
}

/** The trust of the current folder, in which sessions would work. */
export async function readFolderTrust(host: Host, project: Project): Promise<Trust> {
  return trustView(await folderTrust(host.env, host.cwd, trustSettings(project)));
}

export function checkSessionAuth(host: Host, project: Project, deadlineMs: number): Promise<AuthCheck> {
  const { llm } = project.config;
  const onClaudeCode = { ...llm, provider: { ...llm.provider, backend: "claude-code" as const } };
  return checkAuth(host, { ...project, config: { ...project.config, llm: onClaudeCode } }, deadlineMs);
}

/** For `tandem sandbox` and `tandem doctor`. */
export async function readSandboxState(host: Host, project: Project): Promise<SandboxOverview> {
  let hasTenants = false;
  await readStorageState(host, project, async (store) => {
    hasTenants = await isShared(store);
  });
  return readSandboxOverview(host, project, { hasTenants });
}

async function isShared({ tenants }: Store): Promise<boolean> {
  const { DEFAULT_TENANT } = await import("@tandem/storage");
  return (await tenants.list()).some(({ id, archivedAt }) => id !== DEFAULT_TENANT && archivedAt === null);
}

export async function readStorageState(
  host: Host,
  project: Project,
  inspect?: (store: Store) => Promise<void>,
): Promise<StorageState> {
  try {
    const { location, chosenBy } = await storeLocation(host, project);
    if (chosenBy === "default" && !existsSync(location)) {
      return { state: "not_yet", engine: "sqlite", place: location, chosen_by: chosenBy };
    }
    await using store = await openStore(host, project);
    await inspect?.(store);
    return { state: "ready", ...(await store.describe()), chosen_by: chosenBy };
  } catch (error) {
    if (!(error instanceof TandemError)) throw error;
    return { state: "failed", detail: error.message, fix: error.fix };
  }
}
