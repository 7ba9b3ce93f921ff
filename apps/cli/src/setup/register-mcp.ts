import { TandemError } from "@tandem/protocol";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { writeFileAtomically } from "@tandem/tandem/config";
import { MCP_CLIENTS, type McpClient } from "../option-choices.ts";

const NAME = "tandem";

interface Target {
  label: string;
  /** Path in the project. Absent for a user-wide setting, which the user edits. */
  file?: string;
  /** The key that contains the servers. */
  section: string;
  entry: (folder: string) => object;
}

const TARGETS: Record<McpClient, Target> = {
  "claude-code": {
    label: "Claude Code",
    file: ".mcp.json",
    section: "mcpServers",
    entry: () => ({ type: "stdio", command: "tandem", args: ["mcp"] }),
  },
  cursor: {
    label: "Cursor",
    file: ".cursor/mcp.json",
    section: "mcpServers",
    entry: () => ({ command: "tandem", args: ["mcp", "--project", "${workspaceFolder}"] }),
  },
  vscode: {
    label: "VS Code",
    file: ".vscode/mcp.json",
    section: "servers",
    entry: () => ({ type: "stdio", command: "tandem", args: ["mcp", "--project", "${workspaceFolder}"] }),
  },
  zed: {
    label: "Zed",
    section: "context_servers",
    entry: (folder) => ({ command: "tandem", args: ["mcp", "--project", folder] }),
  },
};

export const labelOf = (client: McpClient): string => TARGETS[client].label;

/** The registration of a client: a file to write, nothing to do, or a manual step. */
export interface McpRegistration {
  client: McpClient;
  label: string;
  file: string | null;
  state: "new" | "there" | "by_hand";
  /** The configuration to add. */
  snippet: string;
  /** Why it needs a manual step. */
  why?: string;
  /** The new content of the file. */
  text?: string;
}

/** Reads a client's file and plans the change. Keeps existing content and writes nothing. */
export async function planRegistration(client: McpClient, folder: string): Promise<McpRegistration> {
  const { label, file, section, entry } = TARGETS[client];
  const wanted = entry(folder);
  const snippet = JSON.stringify({ [section]: { [NAME]: wanted } }, null, 2);
  if (file === undefined) {
    return {
      client,
      label,
      file: null,
      state: "by_hand",
      snippet,
      why: `${label}'s settings are yours: add this to them`,
    };
  }
  const path = join(folder, file);
  const plan = { client, label, file: path, snippet };
  const old = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new TandemError("config_unreadable", `${path} cannot be read: the system says ${error.code}.`);
  });
  if (old === undefined) return { ...plan, state: "new", text: `${snippet}\n` };
  const parsed = readSettings(old, section);
  if (!parsed)
    return { ...plan, state: "by_hand", why: `${file} is not plain JSON (it may have comments): add this to it` };
  const there = parsed.servers[NAME];
  if (JSON.stringify(there) === JSON.stringify(wanted)) return { ...plan, state: "there" };
  if (there !== undefined) {
    return { ...plan, state: "by_hand", why: `${file} has another server called ${NAME}, which is left as it is` };
  }
  const merged = { ...parsed.settings, [section]: { ...parsed.servers, [NAME]: wanted } };
  const indent = /^\{\r?\n([ \t]+)/.exec(old)?.[1] ?? 2;
  return { ...plan, state: "new", text: `${JSON.stringify(merged, null, indent)}\n` };
}

const object = z.record(z.string(), z.unknown());

function readSettings(text: string, section: string) {
  try {
    const settings = object.parse(JSON.parse(text.replace(/^\uFEFF/, "")));
    return { settings, servers: object.parse(settings[section] ?? {}) };
  } catch {
    return undefined;
  }
}

export async function registerMcp({ file, text }: McpRegistration): Promise<void> {
  if (file === null || text === undefined) return;
  await mkdir(dirname(file), { recursive: true });
  await writeFileAtomically(file, text);
}

/** `claude-code,cursor`. */
export function readMcpClients(list: string): McpClient[] {
  const names = list.split(",").map((name) => name.trim());
  const clients = names.map((name) => MCP_CLIENTS.find((client) => client === name));
  if (clients.every((client) => client !== undefined)) return [...new Set(clients)];
  throw new TandemError("usage", `--mcp is ${JSON.stringify(list)}.`, {
    fix: `Give one or more of ${MCP_CLIENTS.join(", ")}, with commas between them.`,
  });
}
