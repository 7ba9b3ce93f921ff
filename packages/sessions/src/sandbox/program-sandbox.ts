import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import type { HostFilter, HostMount, Mount, SandboxPlan } from "@tandem/sandbox";
import type { SessionEventBody } from "@tandem/protocol";
import { giveFolder } from "./give-folder.ts";
import type { HostSettings } from "../host/host-settings.ts";
import type { SessionHosts, SessionNetworking } from "./host-grants.ts";
import { sandboxFor } from "./sandbox.ts";
import type { SandboxSettings } from "./sandbox-settings.ts";

const TMP_MB = 1_024;
const PROCESSES = 2_048;

/** Settings that run a session's processes and programs in a sandbox. */
export interface SandboxedSettings extends Pick<HostSettings, "clock" | "hostVariables" | "stateFolder"> {
  sandbox?: SandboxSettings;
  /** The hosts that people allowed to a session. The engine sets it. */
  openHosts?: (session: ProgramSession) => Promise<SessionHosts>;
}

export interface ProgramSession {
  id: string;
  folder: string;
  environmentId: string;
}

/** Installed packages as a sandbox sees them. */
export interface MountedPackages {
  mounts: Mount[];
  variables: Record<string, string>;
}

/** The sandbox of one program that is not Claude Code. It never has the socket of the model's API. */
export interface ProgramSandbox extends AsyncDisposable {
  plan: SandboxPlan;
  /** Added to the program's variables. */
  variables: Readonly<Record<string, string>>;
}

/** Opens a sandbox for a program; undefined if there is to be none. Rejects if one is required and unavailable. */
export async function openProgramSandbox(
  row: ProgramSession,
  settings: SandboxedSettings,
  program: {
    /** The private folder that the program sees as its home. */
    home: string;
    /** The folder that it runs in. */
    folder: string;
    extra: readonly HostMount[];
    /** Mounts that cover those before. */
    last?: readonly Mount[];
    /** Besides the hosts that a person allowed for the session. */
    isAllowed: (networking: SessionNetworking | undefined) => Promise<HostFilter>;
    network?: Pick<SandboxSettings, "credentials" | "services" | "sshAgent">;
    /** Mounts the packages of the session's environment. */
    mountPackages?: (names: readonly string[]) => Promise<MountedPackages>;
    write: (events: SessionEventBody[]) => void;
  },
): Promise<ProgramSandbox | undefined> {
  const { hostVariables, stateFolder } = settings;
  const choice = await sandboxFor(settings.sandbox ?? { mode: "off" }, hostVariables);
  if (!choice.on || choice.covers === "commands") return undefined;
  // Imported lazily: commands that only read sessions start faster without it.
  const [{ letUserReach, sandboxMounts }, { NO_NETWORK, openNetwork }, { openSocketFolder }] = await Promise.all([
    import("@tandem/sandbox"),
    import("./sandbox-network.ts"),
    import("./socket-folder.ts"),
  ]);
  await using opened = new AsyncDisposableStack();
  const user = settings.sandbox?.user;
  const home = { from: program.home, at: hostVariables["HOME"] ?? homedir() };
  await mkdir(home.from, { recursive: true, mode: 0o700 });
  if (user) await giveFolder(program.folder, stateFolder, user);
  const sockets = opened.use(await openSocketFolder(user));
  const granted = await settings.openHosts?.(row);
  const own = await program.isAllowed(granted?.networking);
  const rules: Parameters<typeof openNetwork>[3] = {
    isAllowed: (target) => own(target) || granted?.isAllowed(target) === true,
    onRefused: (refusal) => {
      const event = granted?.refused(refusal);
      if (event) program.write([event]);
    },
  };
  const { mode = "off", proxyNames = false } = settings.sandbox ?? {};
  const sandbox = { mode, proxyNames, ...program.network, ...(user && { user }) };
  const network =
    choice.wall.socat === undefined
      ? NO_NETWORK
      : await openNetwork(sockets.path, { hostVariables, sandbox }, opened, rules);
  const packages = await program.mountPackages?.(granted?.packages ?? []);
  const mounts = sandboxMounts({
    folder: program.folder,
    home: home.at,
    // A tenant's state is in the operator's folder.
    tandemHome: hostVariables["TANDEM_TRUST_HOME"] ?? stateFolder,
    path: hostVariables["PATH"] ?? "",
    extra: program.extra,
    ...(user && { user }),
  });
  const plan: SandboxPlan = {
    home,
    mounts: [...mounts, ...(program.last ?? []), ...(packages?.mounts ?? []), ...network.mounts],
    sockets: network.sockets,
    relays: network.relays,
    limits: { processes: PROCESSES, ...settings.sandbox?.limits, tmpMb: TMP_MB },
    ...(user && { user }),
  };
  if (user) letUserReach({ user, base: stateFolder, owned: [home.from], given: [], read: [] });
  const variables = { HOME: home.at, TMPDIR: "/tmp", ...packages?.variables, ...network.variables };
  const owned = opened.move();
  return { plan, variables, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

export const asMounts = (mounts: readonly { path: string; write: boolean }[]): HostMount[] =>
  mounts.map(({ path, write }) => ({ from: path, access: write ? "write" : "read", optional: true }));
