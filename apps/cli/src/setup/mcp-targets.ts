import { existsSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { McpClient } from "../option-choices.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

export interface McpTarget {
  label: string;
  format: "json" | "toml";
  /** The file with the servers; undefined if the user edits it. */
  file?: (place: { folder: string; env: Variables; platform: NodeJS.Platform }) => string;
  /** The key that contains the servers. */
  section: string;
  entry: (place: { folder: string; env: Variables }) => Readonly<Record<string, unknown>>;
  /** Text of a new file beside the entry. */
  preamble?: Readonly<Record<string, unknown>>;
  /** Whether it reads `.claude/skills` of the project. */
  readsSkills?: boolean;
}

const homeOf = (env: Variables): string => env["HOME"] || env["USERPROFILE"] || "";

/** A graphical program has no shell's PATH, so it needs the whole path of the command. */
function commandPath({ PATH = "" }: Variables): string {
  const folders = PATH.split(delimiter).filter((folder) => isAbsolute(folder) && !folder.includes("node_modules"));
  return folders.map((folder) => join(folder, "tandem")).find((file) => existsSync(file)) ?? "tandem";
}

export const MCP_TARGETS: Record<McpClient, McpTarget> = {
  "claude-code": {
    label: "Claude Code",
    format: "json",
    file: ({ folder }) => join(folder, ".mcp.json"),
    section: "mcpServers",
    entry: () => ({ type: "stdio", command: "tandem", args: ["mcp"] }),
    readsSkills: true,
  },
  "claude-desktop": {
    label: "Claude Desktop",
    format: "json",
    file: ({ env, platform }) => join(claudeDesktopFolder(env, platform), "claude_desktop_config.json"),
    section: "mcpServers",
    entry: ({ folder, env }) => ({ command: commandPath(env), args: ["mcp", "--project", folder] }),
  },
  cursor: {
    label: "Cursor",
    format: "json",
    file: ({ folder }) => join(folder, ".cursor", "mcp.json"),
    section: "mcpServers",
    entry: () => ({ command: "tandem", args: ["mcp", "--project", "${workspaceFolder}"] }),
  },
  vscode: {
    label: "VS Code",
    format: "json",
    file: ({ folder }) => join(folder, ".vscode", "mcp.json"),
    section: "servers",
    entry: () => ({ type: "stdio", command: "tandem", args: ["mcp", "--project", "${workspaceFolder}"] }),
  },
  codex: {
    label: "Codex",
    format: "toml",
    file: ({ env }) => join(env["CODEX_HOME"] || join(homeOf(env), ".codex"), "config.toml"),
    section: "mcp_servers",
    entry: ({ folder }) => ({ command: "tandem", args: ["mcp", "--project", folder] }),
  },
  opencode: {
    label: "opencode",
    format: "json",
    file: ({ folder }) =>
      ["opencode.jsonc", "opencode.json"].map((name) => join(folder, name)).find(existsSync) ??
      join(folder, "opencode.json"),
    section: "mcp",
    entry: () => ({ type: "local", command: ["tandem", "mcp"], enabled: true }),
    preamble: { $schema: "https://opencode.ai/config.json" },
    readsSkills: true,
  },
  zed: {
    label: "Zed",
    format: "json",
    section: "context_servers",
    entry: ({ folder }) => ({ command: "tandem", args: ["mcp", "--project", folder] }),
  },
};

function claudeDesktopFolder(env: Variables, platform: NodeJS.Platform): string {
  const home = homeOf(env);
  if (platform === "darwin") return join(home, "Library", "Application Support", "Claude");
  if (platform === "win32") return join(env["APPDATA"] || join(home, "AppData", "Roaming"), "Claude");
  return join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "Claude");
}
