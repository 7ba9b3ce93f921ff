import {
  TandemError,
  TOOLSET_TOOLS,
  type PermissionPolicy,
  type Tool,
  type ToolParams,
  type ToolsetTool,
} from "@tandem/protocol";
import { readFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { parse } from "yaml";
import type { z } from "zod";
import { cannotRead } from "../input/read-lines.ts";

export interface AgentFlags {
  file?: string;
  name?: string;
  description?: string;
  model?: string;
  system?: string;
  systemFile?: string;
  allow?: ToolsetTool[];
  ask?: ToolsetTool[];
  without?: ToolsetTool[];
  subagents?: "on" | "off";
}

export const SUBAGENT_CHOICES = ["on", "off"] as const;

/** Merged into the stored settings by an update, so that a roster stays. */
export const subagentParams = (state: "on" | "off") => ({
  type: "multiagent_20261001" as const,
  subagents: { type: state === "on" ? ("enabled" as const) : ("disabled" as const) },
});

/**
 * Reads an agent's definition from a file and applies the flags. `tools` are the defaults if the file names none. The result is
 * validated against the API's schema.
 */
export async function readAgent<T>(
  cwd: string,
  flags: AgentFlags,
  {
    schema,
    base,
    tools,
  }: { schema: z.ZodType<T>; base: Record<string, unknown>; tools: readonly (Tool | ToolParams)[] },
): Promise<T> {
  const fromFile = flags.file === undefined ? {} : await readDefinition(cwd, flags.file);
  const { name, description, model } = flags;
  const system = flags.systemFile === undefined ? flags.system : await readText(cwd, flags.systemFile);
  const given = { name, description, model, system };
  const definition: Record<string, unknown> = {
    ...(flags.file === undefined ? base : {}),
    ...fromFile,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  };
  if (flags.allow || flags.ask || flags.without) {
    definition["tools"] = withPolicies((definition["tools"] as ToolParams[] | undefined) ?? tools, flags);
  }
  if (flags.subagents !== undefined) definition["multiagent"] = subagentParams(flags.subagents);
  const result = schema.safeParse(definition);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.join(".") || "the agent"}: ${message}`);
  throw new TandemError("usage", `Invalid agent: ${problems.join("; ")}.`, {
    fix: flags.file === undefined ? "Fix the flags." : `Correct ${flags.file}.`,
  });
}

/** Overrides the policies of the named tools and keeps the others. */
function withPolicies(tools: readonly (Tool | ToolParams)[], { allow = [], ask = [], without = [] }: AgentFlags) {
  const toolset = tools.find((tool) => tool.type === "agent_toolset_20260401") ?? {
    type: "agent_toolset_20260401" as const,
  };
  const policy = (name: ToolsetTool): { enabled?: boolean; permission_policy?: PermissionPolicy } | undefined => {
    if (without.includes(name)) return { enabled: false };
    if (allow.includes(name)) return { enabled: true, permission_policy: { type: "always_allow" } };
    return ask.includes(name) ? { enabled: true, permission_policy: { type: "always_ask" } } : undefined;
  };
  const configs = TOOLSET_TOOLS.flatMap((name) => {
    const current = toolset.configs?.find((config) => config.name === name);
    const changed = policy(name);
    return current || changed ? [{ ...current, name, ...changed }] : [];
  });
  return [{ ...toolset, configs }, ...tools.filter((tool) => tool.type !== "agent_toolset_20260401")];
}

async function readDefinition(cwd: string, path: string): Promise<Record<string, unknown>> {
  const source = await readText(cwd, path);
  let value: unknown;
  try {
    // JSON is valid YAML, but the JSON parser has better messages.
    value = extname(path) === ".json" ? JSON.parse(source) : parse(source);
  } catch (cause) {
    throw new TandemError("usage", `${path} cannot be read: ${(cause as Error).message.split("\n")[0]}.`, {
      fix: "Fix the file.",
      cause,
    });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new TandemError("usage", `${path} does not describe an agent.`, { fix: "It needs name: and model:." });
}

const readText = (cwd: string, path: string): Promise<string> =>
  readFile(resolve(cwd, path), "utf8").catch(cannotRead(path));
