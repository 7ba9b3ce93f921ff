import type { SandboxMode, SandboxState } from "@tandem/protocol";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../config/host.ts";
import { tenantSeparation, type TenantSeparation } from "../tenants/tenant-user.ts";

export interface SandboxOverview extends SandboxState {
  mode: SandboxMode;
  /** How the sessions of different tenants are separated. Absent without tenants. */
  tenants?: TenantSeparation;
  /** Programs of the configuration that run outside, because it trusts them. */
  outside?: string[];
}

/** Whether sessions of this project would run in a sandbox, and what that covers. Runs only a probe. */
export async function readSandboxOverview(
  host: Pick<Host, "env">,
  project: Project,
  { hasTenants = false }: { hasTenants?: boolean } = {},
): Promise<SandboxOverview> {
  const { config } = project;
  const { mode, limits } = config.sandbox;
  if (mode === "off") {
    return { mode, on: false, reason: "sandbox.mode is off", fix: "tandem config set sandbox.mode auto" };
  }
  if (process.platform === "darwin") {
    return { mode, on: true, reason: "macOS: shell commands only, by Claude Code's own sandbox; untested" };
  }
  const { limitsInForce, probeWall } = await import("@tandem/sandbox");
  const wall = await probeWall(host.env);
  if (!wall.on) return { mode, on: false, reason: wall.reason.replace(/\.$/, ""), fix: wall.fix };
  // Claude Code uses a unix socket with an API key only; other credentials need the relay.
  if (wall.socat === undefined && config.llm.claudeCode.auth !== "api_key") {
    return {
      mode,
      on: false,
      reason: "with a Claude login, the sandbox needs socat, which is not installed",
      fix: "Install socat, for example with `apt install socat`.",
    };
  }
  const isRoot = process.geteuid?.() === 0;
  const configured: Record<string, boolean> = {
    memory: limits.memoryMb !== undefined,
    processes: true,
    files: limits.files !== undefined,
    "file size": limits.fileMb !== undefined,
    "/tmp": true,
  };
  const inForce = limitsInForce(wall, isRoot).filter(({ name }) => configured[name]);
  return {
    mode,
    on: true,
    network: wall.socat === undefined ? "none" : "proxy",
    credential: "outside",
    limits: {
      bind: inForce
        .filter(({ scope }) => scope !== "none")
        .map(({ name }) => (name === "/tmp" ? "size of /tmp" : name)),
      open: inForce.filter(({ scope }) => scope === "none").map(({ name, note = "" }) => `${name}: ${note}`.trim()),
    },
    outside: programsOutside(config),
    ...(hasTenants && { tenants: await tenantSeparation(host.env, project) }),
    ...(wall.socat === undefined && { fix: "Install socat: without it, sessions reach only the model's API." }),
  };
}

function programsOutside({ hooks, mcpServers }: Project["config"]): string[] {
  const servers = Object.entries(mcpServers).filter(([, server]) => "sandbox" in server && server.sandbox === "off");
  return [
    ...(hooks.length === 0 ? [] : [hooks.length === 1 ? "one hook" : `${hooks.length} hooks`]),
    ...servers.map(([name]) => `MCP server ${name}`),
  ];
}

/** Sentences for `status`, `tandem sandbox` and the page. */
export function describeSandbox({
  on,
  network,
  credential,
  limits,
  tenants,
  outside = [],
}: SandboxState & Pick<SandboxOverview, "tenants" | "outside">): string[] {
  if (!on) return [];
  return [
    ...(network === "proxy" ? ["network: allowed hosts only, through a proxy"] : []),
    ...(network === "none" ? ["network: the model's API only"] : []),
    ...(credential === "outside" ? ["model credential: outside of the sandbox"] : []),
    ...(credential === "access_token" ? ["model credential: only a short-lived access token is inside"] : []),
    ...(outside.length > 0 ? [`outside, trusted: ${outside.join(", ")}`] : []),
    ...(limits && limits.bind.length > 0 ? [`limits: ${limits.bind.join(", ")}`] : []),
    ...(limits?.open ?? []).map((limit) => `not limited: ${limit}`),
    ...(tenants ? [`tenants: ${describeSeparation(tenants)}`] : []),
  ];
}

const describeSeparation = (separation: TenantSeparation): string =>
  separation.by === "users"
    ? "an OS user per tenant, besides namespaces and mounts"
    : `separated by namespaces and mounts (${separation.reason})`;

/** For the API. */
export const sandboxView = (
  overview: SandboxOverview & { warning?: string },
): { on: boolean; reason?: string; fix?: string; warning?: string; details: string[] } => {
  const { on, reason, fix, warning } = overview;
  return {
    on,
    ...(reason !== undefined && { reason }),
    ...(fix !== undefined && { fix }),
    ...(warning !== undefined && { warning }),
    details: describeSandbox(overview),
  };
};
