import type { TrustedSettings } from "@tandem/claude-code";
import { RequestError } from "@tandem/protocol";
import type { FolderConfig } from "@tandem/workspace";
import { z } from "zod";

// The supported settings of Claude Code's own files. Unknown shapes are not loaded.

const SETTINGS = [".claude/settings.json", ".claude/settings.local.json"];
const SERVERS = ".mcp.json";
const SKILL = /^\.claude\/skills\/([^/]+)\/SKILL\.md$/;

const settingsFile = z.object({
  hooks: z.record(z.string(), z.array(z.unknown())).default({}),
  env: z.record(z.string(), z.coerce.string()).default({}),
  disableAllHooks: z.boolean().default(false),
  permissions: z.object({ deny: z.array(z.string()).default([]) }).prefault({}),
  disabledMcpjsonServers: z.array(z.string()).default([]),
});

const server = z.union([
  z.object({
    type: z.literal("stdio").optional(),
    command: z.string().min(1),
    args: z.array(z.string()).default([]),
    env: z.record(z.string(), z.string()).default({}),
  }),
  z.object({
    type: z.enum(["http", "sse"]).optional(),
    url: z.string(),
    headers: z.record(z.string(), z.string()).default({}),
  }),
]);
export type FolderServer = z.infer<typeof server>;
const serversFile = z.object({ mcpServers: z.record(z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/), server) });

/** Without the path of its skills: Claude Code loads them from a copy. */
export interface FolderParts extends Omit<TrustedSettings, "skillsIn"> {
  servers: Record<string, FolderServer>;
}

/** The settings of a trusted folder. An invalid file is an error that names it; nothing is loaded in part. */
export function trustedParts(config: FolderConfig): FolderParts {
  const settings = SETTINGS.flatMap((path) => parse(config, path, settingsFile) ?? []);
  const hooks: Record<string, unknown[]> = {};
  for (const layer of settings.some(({ disableAllHooks }) => disableAllHooks) ? [] : settings) {
    for (const [event, entries] of Object.entries(layer.hooks)) (hooks[event] ??= []).push(...entries);
  }
  const disabled = new Set(settings.flatMap(({ disabledMcpjsonServers }) => disabledMcpjsonServers));
  const servers = Object.entries(parse(config, SERVERS, serversFile)?.mcpServers ?? {});
  const skills = config.files.flatMap((path) => SKILL.exec(path)?.[1] ?? []);
  return {
    ...(Object.keys(hooks).length > 0 && { hooks }),
    denied: settings.flatMap(({ permissions }) => permissions.deny),
    variables: Object.assign({}, ...settings.map(({ env }) => env)) as Record<string, string>,
    servers: Object.fromEntries(servers.filter(([name]) => !disabled.has(name))),
    skills,
  };
}

function parse<T extends z.ZodType>(config: FolderConfig, path: string, schema: T): z.output<T> | undefined {
  const text = config.text(path);
  if (text === undefined) return undefined;
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error).replaceAll(/\s+/g, " ") : String(error);
    throw new RequestError("invalid_request", `${path} of the folder cannot be understood: ${why}`, {
      fix: "Fix the file, or set sessions.settings to none.",
    });
  }
}
