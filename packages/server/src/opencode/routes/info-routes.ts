import { homedir } from "node:os";
import { join } from "node:path";
import type { OpencodeRoute } from "./opencode-route.ts";
import { PROVIDER } from "../projection/provider-id.ts";
import { OPENCODE_VERSION, PROJECT } from "../projection/session-info.ts";

const projectOf = (folder: string) => ({
  id: PROJECT,
  worktree: folder,
  time: { created: 0, updated: 0 },
  sandboxes: [],
});

/** Facts about the server: project, config, models, agents and commands. */
export const infoRoutes: OpencodeRoute[] = [
  {
    method: "GET",
    path: "/global/health",
    scope: "read",
    handle: async () => ({ healthy: true, version: OPENCODE_VERSION }),
  },
  { method: "GET", path: "/project", scope: "read", handle: async ({ directory }) => [projectOf(directory)] },
  { method: "GET", path: "/project/current", scope: "read", handle: async ({ directory }) => projectOf(directory) },
  {
    method: "GET",
    path: "/project/:project/directories",
    scope: "read",
    handle: async ({ directory }) => [{ directory }],
  },
  {
    method: "GET",
    path: "/path",
    scope: "read",
    handle: async ({ directory }) => {
      const home = homedir();
      return { home, state: join(home, ".tandem"), config: join(home, ".tandem"), worktree: directory, directory };
    },
  },
  ...["/config", "/global/config"].map((path): OpencodeRoute => ({
    method: "GET",
    path,
    scope: "read",
    handle: async ({ catalogue }) => ({
      // Tandem compacts, shares and updates by its own rules.
      share: "disabled",
      autoupdate: false,
      model: `${PROVIDER}/${await catalogue.defaultModel()}`,
    }),
  })),
  {
    method: "GET",
    path: "/config/providers",
    scope: "read",
    handle: async ({ catalogue }) => ({
      providers: [await catalogue.provider()],
      default: { [PROVIDER]: await catalogue.defaultModel() },
    }),
  },
  {
    method: "GET",
    path: "/provider",
    scope: "read",
    handle: async ({ catalogue }) => ({
      all: [await catalogue.provider()],
      default: { [PROVIDER]: await catalogue.defaultModel() },
      connected: [PROVIDER],
    }),
  },
  { method: "GET", path: "/provider/auth", scope: "read", handle: async () => ({}) },
  { method: "GET", path: "/agent", scope: "read", handle: async ({ catalogue, modes }) => catalogue.agents(modes) },
  {
    method: "GET",
    path: "/command",
    scope: "read",
    handle: async ({ engine, directory }) =>
      (await engine.sessions.commandsIn(directory)).map(({ name, description, argument_hint: hint }) => ({
        name,
        ...(description !== null && { description }),
        source: "command",
        template: "",
        hints: hint === null ? [] : [hint],
      })),
  },
  // Claude Code has no formatters and language servers of its own; its MCP servers belong to a session.
  { method: "GET", path: "/lsp", scope: "read", handle: async () => [] },
  { method: "GET", path: "/formatter", scope: "read", handle: async () => [] },
  { method: "GET", path: "/mcp", scope: "read", handle: async () => ({}) },
  { method: "GET", path: "/vcs", scope: "read", handle: async () => ({}) },
];
