import { confirm, isCancel, log, multiselect } from "@clack/prompts";
import { MCP_CLIENTS, type McpClient } from "../option-choices.ts";
import { labelOf, type McpRegistration } from "./register-mcp.ts";

/** Which programs are to know of what is known here. To choose none is fine. */
export async function askMcpClients(): Promise<McpClient[]> {
  const chosen = await multiselect<McpClient>({
    message: "Register `tandem mcp` with which programs? (space chooses, enter goes on)",
    options: MCP_CLIENTS.map((client) => ({ value: client, label: labelOf(client) })),
    required: false,
  });
  return isCancel(chosen) ? [] : chosen;
}

/** Shows what would be in the file before it is written. */
export async function mayRegister({ label, file, text }: McpRegistration): Promise<boolean> {
  log.message(`${file}\n\n${text}`);
  const answer = await confirm({ message: `Write this for ${label}?` });
  return answer === true;
}
