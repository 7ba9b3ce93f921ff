import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { ConversationSandbox, Credential } from "@tandem/claude-code";
import {
  gitIdentity,
  hostRules,
  limitsInForce,
  openApiGateway,
  sandboxMounts,
  type EgressRefusal,
  type HostFilter,
  type HostMount,
  type LimitInForce,
  type Mount,
  type SandboxPlan,
  type WallOn,
} from "@tandem/sandbox";
import type { SandboxState } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import { removeTree } from "@tandem/workspace";
import type { GatewayWatch } from "../budgets/side-requests.ts";
import type { ProcessSettings } from "./process-settings.ts";
import type { MountedPackages } from "../sandbox/program-sandbox.ts";
import { giveFolder } from "../sandbox/give-folder.ts";
import { exposePorts, NO_NETWORK, openNetwork } from "../sandbox/sandbox-network.ts";
import { sandboxFolder } from "../sandbox/sandbox-folder.ts";
import { openSocketFolder } from "../sandbox/socket-folder.ts";
import type { SessionVariables } from "../vaults/use/session-variables.ts";

const API_SOCKET = "/run/tandem/api.sock";
const API_PORT = 3129;
const TMP_MB = 1_024;
const PROCESSES = 2_048;

/** Hosts that Claude Code contacts by itself. They are refused like others, but the agent did not ask for them. */
const OWN_HOSTS = new Set(["api.anthropic.com", "platform.claude.com", "console.anthropic.com", "claude.ai"]);

/** The sandbox of one process of a session: its proxies and plan. Dispose it after the process has ended. */
export interface SessionSandbox extends AsyncDisposable {
  sandbox: Extract<ConversationSandbox, { covers: "process" }>;
  /** Allows a host while a call runs that was approved for it. */
  allowHost(host: string): Disposable;
  /** Ports of `sandbox.ports` that another program has. */
  takenPorts: readonly number[];
  /** Whether a process that starts now would see the same. */
  isCurrent(): Promise<boolean>;
}

/**
 * Opens the proxies of one process and plans its sandbox. The process gets stand-ins: the proxies add the real credentials
 * outside.
 */
export async function openSessionSandbox(
  row: Pick<SessionRow, "id" | "folder">,
  settings: Pick<ProcessSettings, "executable" | "hostVariables" | "stateFolder" | "sandbox">,
  around: {
    wall: WallOn;
    credential: Credential;
    isAllowed: HostFilter;
    packages: MountedPackages;
    /** For a process besides the session's own: the name of its folder, which is deleted with the sandbox. */
    besides?: string;
    /** Of the session's vaults. */
    vaultVariables?: SessionVariables;
    onRefused: (refusal: EgressRefusal) => void;
    gateway?: GatewayWatch;
  },
): Promise<SessionSandbox> {
  await using opened = new AsyncDisposableStack();
  const { hostVariables } = settings;
  const identity = gitIdentity(hostVariables);
  const { vaultVariables } = around;
  const folder = sandboxFolder(settings.stateFolder, row.id);
  const configDir = join(folder, around.besides ?? "claude");
  if (around.besides !== undefined) opened.defer(() => removeTree(configDir));
  const home = { from: join(folder, "home"), at: hostVariables["HOME"] ?? homedir() };
  await mkdir(home.from, { recursive: true, mode: 0o700 });
  const { makeStandIn } = await import("@tandem/claude-code");
  const standIn = await makeStandIn(around.credential, { configDir, ...settings });

  const user = settings.sandbox?.user;
  const owner = user && { owner: user };
  if (user) await giveFolder(row.folder, settings.stateFolder, user);
  const sockets = opened.use(await openSocketFolder(user));
  const api = join(sockets.path, "api.sock");
  const upstream = () => standIn.upstream();
  const watch = around.gateway;
  const isFree = around.credential.type === "api_key" && around.credential.isFree === true;
  const gateway = opened.use(
    await openApiGateway({
      socket: api,
      upstream,
      clientSecret: standIn.secret,
      variables: hostVariables,
      ...(watch && { onUsage: (usage) => watch.onUsage(usage, isFree), refusal: () => watch.refusal() }),
      ...owner,
    }),
  );
  const hosts = new AllowedHosts(around.isAllowed);
  const onRefused = (refusal: EgressRefusal): void => {
    if (!OWN_HOSTS.has(refusal.host)) around.onRefused(refusal);
  };
  // With a unix socket, Claude Code accepts no other credential than an API key.
  const usesPort = standIn.credential.type !== "api_key";
  // Without the program for relays, only the model's API can be reached.
  const network =
    around.wall.socat === undefined
      ? NO_NETWORK
      : await openNetwork(sockets.path, settings, opened, {
          isAllowed: (target) => hosts.isAllowed(target),
          onRefused,
          ...(vaultVariables && { currentCredentials: () => vaultVariables.current() }),
          // Claude Code reads settings of an account there, whatever its base URL is.
          ...(usesPort && { answered: { host: "api.anthropic.com", handle: gateway.handle } }),
        });
  // Processes besides the session's own must not take its ports.
  const hasPorts = around.wall.socat !== undefined && around.besides === undefined;
  const ports = hasPorts ? (settings.sandbox?.ports ?? []) : [];
  const servers = await exposePorts(join(sockets.path, "ports"), ports, opened, user);
  const limits = { processes: PROCESSES, ...settings.sandbox?.limits, tmpMb: TMP_MB };
  const listMounts = (by: Awaited<typeof identity>): Mount[] =>
    sandboxMounts({
      folder: row.folder,
      home: home.at,
      // A tenant's state is in the operator's folder.
      tandemHome: hostVariables["TANDEM_TRUST_HOME"] ?? settings.stateFolder,
      path: hostVariables["PATH"] ?? "",
      identity: by,
      extra: extraMounts(settings),
      ...(user && { user }),
    });
  const mounts = listMounts(await identity);
  const plan: SandboxPlan = {
    home,
    mounts: [...mounts, ...around.packages.mounts, ...network.mounts, ...servers.mounts],
    sockets: [{ from: api, at: API_SOCKET }, ...network.sockets],
    // With a socket for the API, Claude Code uses no port before the model has answered.
    relays: usesPort
      ? [{ port: API_PORT, to: API_SOCKET }, ...network.relays]
      : network.relays.map((relay) => ({ ...relay, isLate: true })),
    exposed: servers.exposed,
    limits,
    ...(user && { user }),
  };
  const variables = {
    ...vaultVariables?.placeholders,
    HOME: home.at,
    TMPDIR: "/tmp",
    ...(usesPort
      ? { ANTHROPIC_BASE_URL: `http://127.0.0.1:${API_PORT}` }
      : { ANTHROPIC_UNIX_SOCKET: API_SOCKET, ANTHROPIC_BASE_URL: "http://localhost" }),
    ...(standIn.isFirstParty && { _CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL: "1" }),
    ...around.packages.variables,
    ...network.variables,
  };
  const state: SandboxState = {
    on: true,
    network: around.wall.socat === undefined ? "none" : "proxy",
    credential: "outside",
    limits: describeLimits(limits, limitsInForce(around.wall, !user && process.getuid?.() === 0)),
  };
  const owned = opened.move();
  return {
    sandbox: { on: true, covers: "process", plan, variables, credential: standIn.credential, configDir, state },
    allowHost: (host) => hosts.add(host),
    takenPorts: servers.taken,
    isCurrent: async () => JSON.stringify(mounts) === JSON.stringify(listMounts(await gitIdentity(hostVariables))),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Hosts that rules allow, and those that running calls were approved for. */
class AllowedHosts {
  readonly #isAllowed: HostFilter;
  readonly #granted = new Map<symbol, HostFilter>();

  constructor(isAllowed: HostFilter) {
    this.#isAllowed = isAllowed;
  }

  isAllowed(target: Parameters<HostFilter>[0]): boolean {
    return this.#isAllowed(target) || [...this.#granted.values()].some((fits) => fits(target));
  }

  add(host: string): Disposable {
    const key = Symbol(host);
    this.#granted.set(key, hostRules([host]));
    return { [Symbol.dispose]: () => void this.#granted.delete(key) };
  }
}

const extraMounts = ({ sandbox }: Pick<ProcessSettings, "sandbox">): HostMount[] =>
  (sandbox?.mounts ?? []).map(({ path, write }) => ({ from: path, access: write ? "write" : "read", optional: true }));

/** Those that bind on this machine, and those that do not. */
function describeLimits(limits: SandboxPlan["limits"], inForce: readonly LimitInForce[]): SandboxState["limits"] {
  const values: Record<LimitInForce["name"], number | undefined> = {
    memory: limits.memoryMb,
    processes: limits.processes,
    files: limits.files,
    "file size": limits.fileMb,
    "/tmp": limits.tmpMb,
  };
  const set = inForce.filter(({ name }) => values[name] !== undefined);
  const describe = ({ name, note }: LimitInForce): string =>
    `${name} ${values[name]}${note === undefined ? "" : ` (${note.replace(/\.$/, "")})`}`;
  return {
    bind: set.filter(({ scope }) => scope !== "none").map(describe),
    open: set.filter(({ scope }) => scope === "none").map(describe),
  };
}
