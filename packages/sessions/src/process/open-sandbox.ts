import { statSync } from "node:fs";
import { join } from "node:path";
import type { ConversationSandbox } from "@tandem/claude-code";
import { RequestError, type SessionEventBody } from "@tandem/protocol";
import type { HostFilter } from "@tandem/sandbox";
import type { SessionRow } from "@tandem/storage";
import type { GatewayWatch } from "../budgets/side-requests.ts";
import type { ProcessSettings } from "./process-settings.ts";
import { cannotInject } from "../vaults/cannot-inject.ts";
import type { SessionVariables } from "../vaults/use/session-variables.ts";
import type { SessionHosts } from "../sandbox/host-grants.ts";
import { sandboxFor, type SandboxChoice } from "../sandbox/sandbox.ts";
import type { SessionSandbox } from "./session-sandbox.ts";

const COMMANDS_ONLY = "it covers shell commands only";
const NO_RELAY = {
  reason: "The sandbox of a session with a Claude login needs socat, which is not installed.",
  fix: "Install socat, for example with `apt install socat`.",
};

const NO_NETWORK = "socat is not installed, so the sandbox has no network";

/** Why the sandbox cannot replace the placeholders of a vault's variables; undefined if it can. */
export async function whyNoVariables(
  settings: Pick<ProcessSettings, "sandbox" | "hostVariables">,
): Promise<string | undefined> {
  const choice = await sandboxFor(settings.sandbox ?? { mode: "off" }, settings.hostVariables);
  if (!choice.on) return choice.reason;
  if (choice.covers === "commands") return COMMANDS_ONLY;
  return choice.wall.socat === undefined ? NO_NETWORK : undefined;
}

/** Opens the sandbox of one process, if there is to be one. Rejects if one is required and unavailable. */
export async function openSandbox(
  row: SessionRow,
  settings: ProcessSettings,
  around: {
    /** Logs what the sandbox refused. */
    write: (events: SessionEventBody[]) => void;
    /** For a process besides the session's own: the name of its folder, which is deleted with the sandbox. */
    besides?: string;
    gateway?: GatewayWatch;
    vaultVariables?: SessionVariables | undefined;
  },
): Promise<{ sandbox: ConversationSandbox; opened?: SessionSandbox; isCurrent: () => Promise<boolean> }> {
  const choice = await sandboxFor(settings.sandbox ?? { mode: "off" }, settings.hostVariables);
  const granted = await settings.openHosts?.(row);
  const basis = (now: SandboxChoice, hosts: SessionHosts | undefined): string =>
    JSON.stringify([now, hosts?.networking, hosts?.packages, remotesOf(row.folder)]);
  const before = basis(choice, granted);
  const isSame = async (): Promise<boolean> => {
    const now = await sandboxFor(settings.sandbox ?? { mode: "off" }, settings.hostVariables);
    return basis(now, await settings.openHosts?.(row)) === before;
  };
  const without = (sandbox: ConversationSandbox, reason: string) => {
    if (granted?.networking.type === "limited") throw cannotLimit("limits the network", "enforce it", reason);
    if (granted?.packages.length) throw cannotLimit("has packages", "install them", reason);
    if (around.vaultVariables) throw cannotInject(reason);
    return { sandbox, isCurrent: isSame };
  };
  if (!choice.on) return without(choice, choice.reason);
  if (choice.covers === "commands") return without(choice, COMMANDS_ONLY);
  const credential = await settings.credential();
  // Claude Code uses a unix socket with an API key only; for other credentials, socat relays a port to it.
  if (choice.wall.socat === undefined && credential.type !== "api_key") {
    if (settings.sandbox?.mode === "require") throw new RequestError("unavailable", NO_RELAY.reason, NO_RELAY);
    return without({ on: false, ...NO_RELAY }, NO_RELAY.reason);
  }
  const { vaultVariables } = around;
  if (vaultVariables && choice.wall.socat === undefined) throw cannotInject(NO_NETWORK);
  // Imported lazily: commands that only read sessions start faster without it.
  const [{ openSessionSandbox }, { sessionHosts }, { mountPackages }] = await Promise.all([
    import("./session-sandbox.ts"),
    import("../sandbox/session-hosts.ts"),
    import("../sandbox/environment-packages.ts"),
  ]);
  const configured = sessionHosts(row, settings, granted?.networking);
  configured.catch(() => {});
  let isConfigured: HostFilter = () => false;
  const isAllowed: HostFilter = (target) => isConfigured(target) || granted?.isAllowed(target) === true;
  const opened = await openSessionSandbox(row, settings, {
    ...(around.besides !== undefined && { besides: around.besides }),
    wall: choice.wall,
    credential,
    packages: await mountPackages(row, settings, granted?.packages ?? []),
    ...(around.gateway && { gateway: around.gateway }),
    isAllowed,
    ...(vaultVariables && { vaultVariables }),
    onRefused: (refusal) => {
      const event = granted?.refused(refusal);
      if (event) around.write([event]);
    },
  });
  // Read meanwhile: nothing connects before the process has started.
  isConfigured = await configured.catch(async (error: unknown) => {
    await opened[Symbol.asyncDispose]();
    throw error;
  });
  const unreachable = vaultVariables?.unreachable(isAllowed) ?? [];
  if (unreachable.length > 0) around.write(unreachable);
  if (opened.takenPorts.length > 0) around.write([portsTaken(opened.takenPorts)]);
  const isCurrent = async (): Promise<boolean> => (await isSame()) && (await opened.isCurrent());
  return { sandbox: opened.sandbox, opened, isCurrent };
}

/** The state of the file that names the folder's git remotes, whose hosts are allowed. */
function remotesOf(folder: string): unknown {
  const found = statSync(join(folder, ".git", "config"), { throwIfNoEntry: false });
  return found && [found.ino, found.mtimeMs, found.size];
}

const portsTaken = (ports: readonly number[]): SessionEventBody => ({
  type: "tandem.notice",
  level: "warning",
  text: `Another session or program uses ${ports.map((port) => `port ${port}`).join(", ")} of this machine (sandbox.ports), so servers of this session are not there.`,
});

/** The environment was created where a sandbox could enforce its limits. */
const cannotLimit = (what: string, deed: string, reason: string): RequestError =>
  new RequestError(
    "unavailable",
    `The environment ${what}, and only the sandbox can ${deed}: ${reason.replace(/\.$/, "")}.`,
    { fix: "Turn the sandbox on (`tandem sandbox`), or use another environment." },
  );
