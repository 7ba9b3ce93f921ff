import { confirm, isCancel, log, multiselect, outro } from "@clack/prompts";
import { MCP_CLIENTS, type McpClient } from "../option-choices.ts";
import { labelOf, type McpRegistration } from "./register-mcp.ts";

/** Asks which MCP clients to register with. None is a valid choice. */
export async function askMcpClients(): Promise<McpClient[]> {
  const chosen = await multiselect<McpClient>({
    message: "Register `tandem mcp` with which programs? (space selects, enter continues)",
    options: MCP_CLIENTS.map((client) => ({ value: client, label: labelOf(client) })),
    required: false,
  });
  return isCancel(chosen) ? [] : chosen;
}

/** Ends the questions. */
export const endQuestions = (): void => outro("All questions answered.");

/** Shows the new content of the file and asks before writing. */
export async function mayRegister({ label, file, text }: McpRegistration): Promise<boolean> {
  log.message(`${file}\n\n${text}`);
  const answer = await confirm({ message: `Write this file for ${label}?` });
  return answer === true;
}
