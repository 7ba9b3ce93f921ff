import {
  hostPatternProblem,
  RequestError,
  type Environment,
  type EnvironmentConfigParams,
  type SandboxState,
} from "@tandem/protocol";
import { hostRules } from "@tandem/sandbox";

type Config = Environment["config"];
type CloudConfig = Extract<Config, { type: "cloud" }>;
type LimitedParams = Extract<NonNullable<CloudParams["networking"]>, { type: "limited" }>;
type CloudParams = Extract<EnvironmentConfigParams, { type: "cloud" }>;

export const DEFAULT_CONFIG: CloudConfig = {
  type: "cloud",
  networking: { type: "unrestricted" },
  packages: { type: "packages", apt: [], cargo: [], gem: [], go: [], npm: [], pip: [] },
};

/** The configuration of a new environment. */
export async function newConfig(
  params: EnvironmentConfigParams | null | undefined,
  sandbox: () => Promise<SandboxState>,
): Promise<Config> {
  return params?.type === "self_hosted" ? { type: "self_hosted" } : changeConfig(DEFAULT_CONFIG, params, sandbox);
}

/** Applies a request to a configuration. Omitted parts stay. Settings that need a sandbox are refused without one. */
export async function changeConfig(
  current: Config,
  params: EnvironmentConfigParams | null | undefined,
  sandbox: () => Promise<SandboxState>,
): Promise<Config> {
  if (!params) return current;
  if (params.type !== current.type) {
    throw new RequestError("invalid_request", `config.type: the environment is ${current.type}, which cannot change.`, {
      fix: "Create another environment.",
      detail: "invalid_config_type_change",
    });
  }
  if (params.type === "self_hosted" || current.type === "self_hosted") return current;
  const packages = changePackages(current.packages, params.packages);
  const networking = params.networking ? changeNetworking(current.networking, params.networking) : current.networking;
  if (networking.type === "limited") await requireSandbox("config.networking", sandbox);
  if (packages.npm.length > 0) {
    await requireSandbox("config.packages", sandbox);
    if (networking.type === "limited" && !networking.allow_package_managers) {
      throw invalid("config.packages: limited networking does not reach the registry; set allow_package_managers");
    }
  }
  return { ...current, networking, packages };
}

function changeNetworking(
  current: CloudConfig["networking"],
  params: NonNullable<CloudParams["networking"]>,
): CloudConfig["networking"] {
  if (params.type === "unrestricted") return { type: "unrestricted" };
  const known = current.type === "limited" ? current : undefined;
  const hosts = params.allowed_hosts ?? known?.allowed_hosts ?? [];
  checkHosts(hosts);
  return {
    type: "limited",
    allowed_hosts: hosts,
    allow_mcp_servers: flag(params, known, "allow_mcp_servers"),
    allow_package_managers: flag(params, known, "allow_package_managers"),
  };
}

const flag = (
  params: LimitedParams,
  known: Extract<CloudConfig["networking"], { type: "limited" }> | undefined,
  name: "allow_mcp_servers" | "allow_package_managers",
): boolean => params[name] ?? known?.[name] ?? false;

function checkHosts(hosts: readonly string[]): void {
  for (const [index, host] of hosts.entries()) {
    const problem = host.includes(":") ? "expected a host name without a port" : hostPatternProblem(host);
    if (problem !== undefined) throw invalid(`config.networking.allowed_hosts[${index}]: ${problem}`);
  }
}

/** Sessions work on the owner's machine, whose system must not change. Only npm installs into a folder that is mounted. */
function changePackages(current: CloudConfig["packages"], params: CloudParams["packages"]): CloudConfig["packages"] {
  const { npm, type: _, ...others } = params ?? {};
  const wanted = Object.entries(others).find(([, names]) => Array.isArray(names) && names.length > 0);
  if (wanted) {
    const [manager] = wanted;
    const why =
      manager === "apt"
        ? "apt would change the system of this machine; install the packages yourself"
        : "Tandem installs packages of npm only; the agent can install others in its sandbox";
    throw invalid(`config.packages.${manager}: ${why}`);
  }
  const wrong = (npm ?? []).findIndex((name) => !NPM_PACKAGE.test(name));
  if (wrong !== -1) {
    throw invalid(`config.packages.npm[${wrong}]: expected a name of the registry, such as prettier or prettier@3`);
  }
  return npm ? { ...current, npm } : current;
}

/** A name with a version, a range or a tag. No address, path or option. */
const NPM_PACKAGE = /^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*(?:@[\w.^~<>=|*+-]+)?$/i;

async function requireSandbox(what: string, sandbox: () => Promise<SandboxState>): Promise<void> {
  const { on, reason = "", fix } = await sandbox();
  if (on) return;
  throw new RequestError(
    "invalid_request",
    `${what}: only the sandbox can enforce it, and it is off: ${reason.replace(/\.$/, "")}.`,
    { ...(fix !== undefined && { fix }) },
  );
}

/** Tandem connects to MCP servers itself, so the sandbox does not limit them; a limited environment must allow them. */
export function checkMcpServers({ config }: Environment, servers: readonly { name: string; url: string }[]): void {
  if (config.type === "self_hosted") return;
  const { networking } = config;
  if (networking.type !== "limited" || networking.allow_mcp_servers) return;
  const isAllowed = hostRules(networking.allowed_hosts);
  const outside = servers.find(({ url }) => !isAllowed({ host: URL.parse(url)?.hostname ?? "", port: 443 }));
  if (outside) {
    throw new RequestError(
      "invalid_request",
      `The environment's networking does not allow the MCP server ${outside.name}.`,
      {
        fix: "Add its host to allowed_hosts, or set allow_mcp_servers.",
      },
    );
  }
}

const invalid = (message: string): RequestError => new RequestError("invalid_request", `${message}.`);
