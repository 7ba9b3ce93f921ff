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

/**
 * Whether a process can be started before its session: it needs nothing that belongs to the session alone, such as a worktree,
 * mounted files or connections to MCP servers, and runs no hooks of the folder at its start.
 */
export async function canStartAhead(
  row: SessionRow,
  environment: Environment,
  settings: Pick<ProcessSettings, "fleet" | "sandbox" | "sessionServers" | "trustOf">,
): Promise<boolean> {
  const { sandbox, fleet, sessionServers, trustOf } = settings;
  const { agent } = row;
  const agents = [agent, ...rosterOf(agent)];
  const isOwn =
    row.selfHosted ||
    row.resources.length > 0 ||
    (row.vaultIds ?? []).length > 0 ||
    agents.some(({ mcp_servers: servers, skills }) => servers.length > 0 || skills.length > 0) ||
    environment.metadata[ENVIRONMENT_METADATA.git] !== undefined ||
    environment.metadata[ENVIRONMENT_METADATA.isolation] === "worktree" ||
    (sessionServers?.(row.id) ?? []).length > 0;
  // Ports of this machine have one owner, and secrets are read anew for each session.
  if (isOwn || fleet || sandbox?.ports?.length || sandbox?.credentials?.length) return false;
  const trust = await trustOf?.(row.folder);
  if (!trust?.trusted || !trust.config) return true;
  const { hooks = {}, servers } = trustedParts(trust.config);
  return Object.keys(hooks).length === 0 && Object.keys(servers).length === 0;
}
