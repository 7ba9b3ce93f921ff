import { createHash } from "node:crypto";
import { ENVIRONMENT_METADATA, SESSION_METADATA, type Environment } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import { rosterOf } from "../log/agent-roster.ts";
import type { ProcessSettings } from "../process/process-settings.ts";
import { trustedParts } from "../trust/trusted-parts.ts";

/** Metadata that a process is started with. */
const FIXED = [
  SESSION_METADATA.outputSchema,
  SESSION_METADATA.maxTurns,
  SESSION_METADATA.system,
  SESSION_METADATA.questions,
  SESSION_METADATA.model,
  SESSION_METADATA.effort,
  SESSION_METADATA.permissionMode,
];

type LaunchedRow = Pick<SessionRow, "agent" | "environmentId" | "metadata" | "vaultIds">;

/** Sessions with the same value probably need the same process. Whether they do is checked when one takes it. */
export function launchHint({ agent, environmentId, metadata, vaultIds = [] }: LaunchedRow): string {
  const parts = [agent, environmentId, FIXED.map((key) => metadata[key] ?? null), vaultIds];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** Whether a process can be started before its session: it needs nothing of its own, such as a worktree or mounted files. */
export async function canStartAhead(
  row: SessionRow,
  environment: Environment,
  settings: Pick<ProcessSettings, "fleet" | "sandbox" | "sessionServers" | "trustOf">,
): Promise<boolean> {
  const isOwn =
    row.resources.length > 0 ||
    [row.agent, ...rosterOf(row.agent)].some(({ skills }) => skills.length > 0) ||
    environment.metadata[ENVIRONMENT_METADATA.git] !== undefined ||
    environment.metadata[ENVIRONMENT_METADATA.isolation] === "worktree";
  return !isOwn && (await startsAlone(row, settings));
}

/**
 * Whether a process can be started before there is a message: it starts no MCP servers and no hooks of the folder, and needs no
 * secrets, which are read anew for each process, nor ports of this machine, which have one owner.
 */
export async function startsAlone(
  row: SessionRow,
  settings: Pick<ProcessSettings, "fleet" | "sandbox" | "sessionServers" | "trustOf">,
): Promise<boolean> {
  const { sandbox, fleet, sessionServers, trustOf } = settings;
  const hasMore =
    row.selfHosted ||
    (row.vaultIds ?? []).length > 0 ||
    [row.agent, ...rosterOf(row.agent)].some(({ mcp_servers: servers }) => servers.length > 0) ||
    (sessionServers?.(row.id) ?? []).length > 0;
  if (hasMore || fleet || sandbox?.ports?.length || sandbox?.credentials?.length) return false;
  const trust = await trustOf?.(row.folder);
  if (!trust?.trusted || !trust.config) return true;
  const { hooks = {}, servers } = trustedParts(trust.config);
  return Object.keys(hooks).length === 0 && Object.keys(servers).length === 0;
}
