import type { HostServer } from "@tandem/claude-code";
import type { SessionRow } from "@tandem/storage";
import type { McpSettings } from "./mcp-settings.ts";

/** The in-process servers of a session: those of every session, and the language servers of its folder. */
export async function hostServersOf(
  row: SessionRow,
  { hostServers, languageServers }: Pick<McpSettings, "hostServers" | "languageServers">,
): Promise<HostServer[]> {
  const [own, lsp] = await Promise.all([hostServers?.(row.id), languageServers?.toolsFor(row)]);
  return [...(own ?? []), ...(lsp ? [lsp] : [])];
}
