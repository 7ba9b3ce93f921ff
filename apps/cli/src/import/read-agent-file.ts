import { TOOLSET_TOOLS, type AgentCreateParams, type ToolsetTool } from "@tandem/protocol";
import { parseFrontMatter } from "@tandem/workspace";
import { basename } from "node:path";
import { z } from "zod";
import type { Imported } from "./imported.ts";

export const UNKNOWN_HERE = "not supported";

const TOOLS: Readonly<Record<string, ToolsetTool>> = {
  bash: "bash",
  edit: "edit",
  multiedit: "edit",
  notebookedit: "edit",
  read: "read",
  write: "write",
  glob: "glob",
  grep: "grep",
  webfetch: "web_fetch",
  websearch: "web_search",
};

const head = z.object({
  name: z.string().optional(),
  description: z.string().optional(),
  model: z.string().optional(),
  /** Claude Code: comma-separated names or a list. opencode: a map of enabled tools. */
  tools: z.union([z.string(), z.array(z.string()), z.record(z.string(), z.boolean())]).optional(),
  /** opencode: whether people start the agent, other agents call it, or both. */
  mode: z.string().optional(),
});

/** Parses an agent of `.claude/agents` or `.opencode/agent`: front matter and a system prompt. */
export function readAgentFile(into: Imported, path: string, text: string, fallback: string): void {
  const name = basename(path).replace(/\.md$/i, "");
  try {
    const { head: fields, body: system } = parseFrontMatter(text);
    addAgent(into, { name, ...head.parse(fields), system }, fallback, otherKeys(fields, head));
  } catch (error) {
    const why = error instanceof z.ZodError ? "unexpected front matter" : (error as Error).message.split("\n")[0]!;
    into.skipped.push({ what: path, why });
  }
}

export function addAgent(
  into: Imported,
  agent: z.infer<typeof head> & { name: string; system: string },
  fallback: string,
  others: readonly string[],
): void {
  const { name, description, system, mode = "primary" } = agent;
  if (mode !== "primary") {
    const why = "imported as an agent for users; agents call those of .claude/agents in a trusted folder";
    into.skipped.push({ what: `the mode ${mode} of the agent ${name}`, why });
  }
  if (others.length > 0) into.skipped.push({ what: `${others.join(", ")} of the agent ${name}`, why: UNKNOWN_HERE });
  const { enabled, unknown } = readTools(agent.tools);
  if (unknown.length > 0) {
    into.skipped.push({ what: `${unknown.join(", ")} of the agent ${name}`, why: "unknown tool" });
  }
  const model = modelOf(agent.model);
  if (agent.model !== undefined && model === undefined && agent.model !== "inherit") {
    into.skipped.push({ what: `the model ${agent.model} of the agent ${name}`, why: "not a Claude model" });
  }
  const params: AgentCreateParams = {
    name,
    model: model ?? fallback,
    ...(description !== undefined && { description }),
    ...(system !== "" && { system }),
    tools: [
      {
        type: "agent_toolset_20260401",
        configs: enabled ? TOOLSET_TOOLS.map((tool) => ({ name: tool, enabled: enabled.has(tool) })) : [],
      },
    ],
  };
  into.agents.push(params);
}

/** Undefined means all tools. */
function readTools(tools: z.infer<typeof head>["tools"]): { enabled: Set<ToolsetTool> | undefined; unknown: string[] } {
  if (tools === undefined) return { enabled: undefined, unknown: [] };
  const isMap = typeof tools === "object" && !Array.isArray(tools);
  const names = typeof tools === "string" ? tools.split(",") : isMap ? Object.keys(tools) : tools;
  const known = (name: string): ToolsetTool | undefined => TOOLS[name.trim().toLowerCase().replace(/\(.*$/, "")];
  const unknown = names.map((name) => name.trim()).filter((name) => name !== "" && name !== "*" && !known(name));
  if (!isMap) return { enabled: new Set(names.flatMap((name) => known(name) ?? [])), unknown };
  const off = new Set(names.filter((name) => tools[name] === false).map(known));
  return { enabled: new Set(TOOLSET_TOOLS.filter((tool) => tools["*"] !== false && !off.has(tool))), unknown };
}

/** The keys that a schema does not know, so that none is left out silently. */
export const otherKeys = (fields: object, known: z.ZodObject): string[] =>
  Object.keys(fields).filter((key) => !Object.hasOwn(known.shape, key));

export function modelOf(name: string | undefined): string | undefined {
  const bare = name?.replace(/^anthropic\//, "");
  return bare !== undefined && /^(opus|sonnet|haiku|claude-[\w.-]+)$/.test(bare) ? bare : undefined;
}
