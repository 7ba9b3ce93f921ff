import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { mkdir, realpath } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join, sep } from "node:path";
import type { StdioEndpoint } from "@tandem/claude-code";
import type { SessionEventBody } from "@tandem/protocol";
import type { HostMount } from "@tandem/sandbox";
import {
  asMounts,
  openProgramSandbox,
  type ProgramSandbox,
  type ProgramSession,
  type SandboxedSettings,
} from "../sandbox/program-sandbox.ts";
import { noteUse, serverHomes } from "../sandbox/sandbox-folder.ts";
import type { McpSettings } from "./mcp-settings.ts";
import type { ServerConfinement } from "./server-confinement.ts";
import type { SessionMcpServer } from "./session-mcp-server.ts";

/** For a server of a folder's `.mcp.json`. */
const FROM_FOLDER: Extract<ServerConfinement, { type: "sandbox" }> = {
  type: "sandbox",
  folder: "write",
  hosts: "session",
  mounts: [],
  seesCommand: false,
};

export type ServerSandboxSettings = SandboxedSettings & Pick<McpSettings, "publicMcpServers">;

export type LocalServer = SessionMcpServer & { endpoint: { type: "stdio" } & StdioEndpoint };

export const isLocal = (server: SessionMcpServer): server is LocalServer => server.endpoint.type === "stdio";

/** Opens the sandbox of a local MCP server; undefined if there is to be none. Rejects if one is required and unavailable. */
export async function openServerSandbox(
  { origin, endpoint, confinement: given = FROM_FOLDER }: LocalServer,
  row: ProgramSession,
  settings: ServerSandboxSettings,
  write: (events: SessionEventBody[]) => void,
): Promise<ProgramSandbox | undefined> {
  if (given.type === "none" && !settings.publicMcpServers) return undefined;
  // Tenants share the machine: none of their programs runs outside.
  const confinement = given.type === "none" ? FROM_FOLDER : given;
  const { hosts, mounts, seesCommand } = confinement;
  // Kept between sessions, so that a package manager downloads the server once.
  const name = createHash("sha256").update(`${origin}\0${endpoint.folder}`).digest("hex").slice(0, 24);
  const home = join(serverHomes(settings.stateFolder), name, "home");
  await mkdir(home, { recursive: true, mode: 0o700 });
  await noteUse(dirname(home), settings.clock);
  return openProgramSandbox(row, settings, {
    home,
    folder: endpoint.folder,
    extra: [
      ...(seesCommand && !settings.publicMcpServers ? await commandMounts(endpoint, settings) : []),
      ...asMounts(mounts),
    ],
    // Covers the folder's writable mount.
    ...(confinement.folder === "read" && { last: [{ from: endpoint.folder, access: "read" as const }] }),
    isAllowed: async (networking) => {
      const { allHosts, hostRules } = await import("@tandem/sandbox");
      if (hosts !== "session") return hosts === "public" ? allHosts : hostRules(hosts);
      const { sessionHosts } = await import("../sandbox/session-hosts.ts");
      return sessionHosts(row, settings, networking);
    },
    write,
  });
}

/** The endpoint of a local server in its sandbox. Its own variables cannot change those of the sandbox. */
export const inSandbox = (
  { endpoint }: SessionMcpServer,
  { plan, variables }: ProgramSandbox,
): SessionMcpServer["endpoint"] =>
  endpoint.type === "stdio"
    ? { ...endpoint, sandbox: plan, variables: { ...endpoint.variables, ...variables } }
    : endpoint;

/** The program, and the absolute paths among its arguments, read-only. */
async function commandMounts(
  { command, args, folder }: StdioEndpoint,
  { hostVariables: { PATH = "", HOME = "" }, stateFolder }: SandboxedSettings,
): Promise<HostMount[]> {
  // Would show everything.
  const isTooMuch = (path: string): boolean =>
    dirname(path) === "/" || isWithin(path, HOME) || isWithin(path, stateFolder) || isWithin(stateFolder, path);
  const program = isAbsolute(command) ? command : findProgram(command, PATH);
  const named = [...(program === undefined ? [] : [program]), ...args.filter(isAbsolute)];
  const mounts: HostMount[] = [];
  for (const path of named) {
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined || isSystem(real) || isWithin(folder, real)) continue;
    // A script loads files beside it.
    const beside = statSync(real).isDirectory() ? real : packageOf(real);
    const from = isTooMuch(beside) ? real : beside;
    if (isTooMuch(from)) continue;
    mounts.push({ from, access: "read" });
    if (path !== real && !isWithin(from, path)) mounts.push({ from: real, at: path, access: "read" });
  }
  return mounts;
}

/** The folder of the package that a file belongs to: the nearest one with a manifest, else its own. */
function packageOf(file: string): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (MANIFESTS.some((name) => isFile(join(folder, name)))) return folder;
  }
  return dirname(file);
}

const MANIFESTS = ["package.json", "pyproject.toml", "setup.py", "pyvenv.cfg", "deno.json"];

const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc", "/dev", "/run", "/sys"];

/** Those of the system are there already, or never visible. */
const isSystem = (path: string): boolean => path === "/" || SYSTEM.some((folder) => isWithin(folder, path));

function findProgram(name: string, path: string): string | undefined {
  if (name.includes(sep)) return undefined;
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(isFile);
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** Whether `path` is `folder` or inside it. */
const isWithin = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}${sep}`);
