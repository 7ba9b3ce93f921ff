import type { EngineSettings } from "@tandem/sessions";
import { resolve } from "node:path";
import type { Project } from "../config/load-project.ts";
import { resolveHeader, resolveSecret } from "../config/resolve-secret.ts";
import type { Host } from "../config/host.ts";
import { checkedMounts, engineSandbox, realPath } from "./engine-sandbox.ts";
import { folderTrust, type TrustSettings } from "../config/trusted-folders.ts";

/** The engine's settings for trust, MCP servers, rules, sandbox, approvals and notifications. */
export function engineControls(
  { env, user }: Pick<Host, "env" | "user">,
  project: Project,
  readSecret: (reference: string) => Promise<string>,
): Pick<
  EngineSettings,
  | "trustOf"
  | "mcpServer"
  | "lsp"
  | "rules"
  | "sandbox"
  | "permissionMode"
  | "approvals"
  | "notify"
  | "bots"
  | "webhooks"
  | "readSecret"
  | "secretKey"
> {
  const { approvals, bots, lsp, mcpServers, notify, rules, sandbox, sessions, server, storage, webhooks } =
    project.config;
  const place = { env, folder: project.folder };
  const secrets = async (
    entries: Record<string, string>,
    resolve: typeof resolveSecret,
  ): Promise<Record<string, string>> =>
    Object.fromEntries(await Promise.all(Object.entries(entries).map(async ([k, v]) => [k, await resolve(v, place)])));
  const trust = trustSettings(project);
  return {
    trustOf: (folder) => folderTrust(env, folder, trust),
    mcpServer: async (name) => {
      const server = Object.hasOwn(mcpServers, name) ? mcpServers[name] : undefined;
      if (!server) return undefined;
      const { command, args, url = "", timeout } = server;
      const timeoutMs = timeout === undefined ? {} : { timeoutMs: timeout };
      if (command === undefined) {
        const headers = await secrets(server.headers, resolveHeader);
        return { endpoint: { type: "http", url, headers, publicOnly: false }, ...timeoutMs };
      }
      const variables = await secrets(server.env, resolveSecret);
      const { hosts = "public", write, mounts } = server;
      return {
        endpoint: { type: "stdio", command, args, variables, folder: project.folder },
        ...timeoutMs,
        confinement:
          server.sandbox === "off"
            ? { type: "none" }
            : {
                type: "sandbox",
                folder: write ? "write" : "read",
                hosts,
                mounts: checkedMounts(env, `mcpServers.${name}.mounts`, mounts),
                seesCommand: true,
              },
      };
    },
    ...(lsp.enabled && {
      lsp: {
        idleMs: lsp.idle,
        servers: Object.entries(lsp.servers).map(([name, server]) => ({ languageId: name, ...server, name })),
      },
    }),
    rules,
    readSecret,
    ...(storage.key !== undefined && { secretKey: () => readSecret(storage.key!) }),
    bots: bots.map(({ token, ...bot }) => ({ ...bot, token: () => readSecret(token) })),
    sandbox: { ...engineSandbox(env, sandbox, readSecret), ...(user && { user }) },
    permissionMode: sessions.permissionMode,
    approvals,
    webhooks: webhooks.map(({ secret, ...webhook }) => ({ ...webhook, secret: () => readSecret(secret) })),
    notify: {
      webhooks: notify.webhooks.map(({ url, secret, on }) => ({
        url,
        on,
        ...(secret !== undefined && { secret: () => readSecret(secret) }),
      })),
      desktop: notify.desktop,
      link: (path) => `${server.tls.certificate ? "https" : "http"}://${server.host}:${server.port}${path}`,
    },
  };
}

export const trustSettings = ({ config, folder }: Pick<Project, "config" | "folder">): TrustSettings => ({
  settings: config.sessions.settings,
  always: config.sessions.trustedFolders.map((path) => realPath(resolve(folder, path))),
});
