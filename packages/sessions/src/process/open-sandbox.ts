import type { ConversationSandbox } from "@tandem/claude-code";
import { RequestError, type SessionEventBody } from "@tandem/protocol";
import type { HostFilter } from "@tandem/sandbox";
import type { SessionRow } from "@tandem/storage";
import type { GatewayWatch } from "../budgets/side-requests.ts";
import type { ProcessSettings } from "./process-settings.ts";
import { sandboxFor } from "./sandbox.ts";
import type { SessionSandbox } from "./session-sandbox.ts";

const NO_RELAY = {
  reason: "The sandbox of a session with a Claude login needs socat, which is not installed.",
  fix: "Install socat, for example with `apt install socat`.",
};

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
  },
): Promise<{ sandbox: ConversationSandbox; opened?: SessionSandbox }> {
  const choice = await sandboxFor(settings.sandbox ?? { mode: "off" }, settings.hostVariables);
  const granted = await settings.openHosts?.(row);
  const without = (sandbox: ConversationSandbox, reason: string): { sandbox: ConversationSandbox } => {
    if (granted?.networking.type === "limited") throw cannotLimit(reason);
    return { sandbox };
  };
  if (!choice.on) return without(choice, choice.reason);
  if (choice.covers === "commands") return without(choice, "it covers shell commands only");
  const credential = await settings.credential();
  // Claude Code uses a unix socket with an API key only; for other credentials, socat relays a port to it.
  if (choice.wall.socat === undefined && credential.type !== "api_key") {
    if (settings.sandbox?.mode === "require") throw new RequestError("unavailable", NO_RELAY.reason, NO_RELAY);
    return without({ on: false, ...NO_RELAY }, NO_RELAY.reason);
  }
  // Imported lazily: commands that only read sessions start faster without it.
  const [{ openSessionSandbox }, { sessionHosts }] = await Promise.all([
    import("./session-sandbox.ts"),
    import("./session-hosts.ts"),
  ]);
  const configured = sessionHosts(row, settings, granted?.networking);
  configured.catch(() => {});
  let isConfigured: HostFilter = () => false;
  const opened = await openSessionSandbox(row, settings, {
    ...(around.besides !== undefined && { besides: around.besides }),
    wall: choice.wall,
    credential,
    ...(around.gateway && { gateway: around.gateway }),
    isAllowed: (target) => isConfigured(target) || granted?.isAllowed(target) === true,
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
  return { sandbox: opened.sandbox, opened };
}

/** The environment was created where a sandbox could enforce its limits. */
const cannotLimit = (reason: string): RequestError =>
  new RequestError(
    "unavailable",
    `The environment limits the network, and only the sandbox can enforce it: ${reason.replace(/\.$/, "")}.`,
    { fix: "Turn the sandbox on (`tandem sandbox`), or use an environment with unrestricted networking." },
  );
