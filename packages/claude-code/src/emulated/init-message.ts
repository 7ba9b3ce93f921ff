import type { ConversationSetup } from "../session/conversation.ts";
import { offeredTools } from "./offered-tools.ts";

const VERSION = "0.0.0-emulated";

/** The first message of a turn, as from Claude Code. */
export const initMessage = (setup: ConversationSetup, model: string) => ({
  type: "system",
  subtype: "init",
  model,
  cwd: setup.folder,
  claude_code_version: VERSION,
  tools: offeredTools(setup).map(({ name }) => name),
  mcp_servers: (setup.connectedServers ?? []).map(({ name }) => ({ name, status: "connected" })),
});
