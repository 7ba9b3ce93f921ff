import { PERMISSION_MODES, RequestError, type PermissionMode } from "@tandem/protocol";

// opencode's clients choose an agent for each prompt, and cycle through them with Tab. Tandem's agent is fixed for a session;
// its permission mode is not. So each mode is one of opencode's agents, under opencode's name where it has one.

const AGENT_OF_MODE = {
  default: "build",
  acceptEdits: "accept-edits",
  plan: "plan",
  dontAsk: "dont-ask",
  bypassPermissions: "bypass-permissions",
} as const satisfies Record<PermissionMode, string>;

export const agentOfMode = (mode: PermissionMode): string => AGENT_OF_MODE[mode];

export const isMode = (text: string | undefined): text is PermissionMode =>
  PERMISSION_MODES.some((mode) => mode === text);

export function modeOfAgent(agent: string): PermissionMode {
  const mode = PERMISSION_MODES.find((each) => AGENT_OF_MODE[each] === agent);
  if (mode) return mode;
  throw new RequestError("invalid_request", `agent: there is no ${JSON.stringify(agent)}.`, {
    fix: `Choose one of ${Object.values(AGENT_OF_MODE).join(", ")}.`,
  });
}
