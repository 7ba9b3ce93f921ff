import { z } from "zod";
import { EFFORTS } from "../../words.ts";
import { count, createdBetween, includeArchived, pageOf, pageQuery } from "../page.ts";

export { EFFORTS } from "../../words.ts";

// Agents in the shapes of Anthropic's Managed Agents API. Clients send `…Params`; responses have every default filled in.

const MAX_METADATA = 16;
const metadataKey = z.string().min(1).max(64);
const MAX_VALUE = 512;
/** Our metadata values that may exceed the usual limit: a JSON Schema. */
const LONG_VALUES: Readonly<Record<string, number>> = { "tandem.output_schema": 32_768 };

const isShortEnough = (entries: Record<string, string | null>): boolean =>
  Object.entries(entries).every(([key, value]) => (value?.length ?? 0) <= (LONG_VALUES[key] ?? MAX_VALUE));
const TOO_LONG = `expected values of at most ${MAX_VALUE} characters`;

export const metadata = z
  .record(metadataKey, z.string())
  .refine((entries) => Object.keys(entries).length <= MAX_METADATA, `expected at most ${MAX_METADATA} entries`)
  .refine(isShortEnough, TOO_LONG);
/** A metadata update: null removes a key, an absent key stays. */
export const metadataUpdate = z.record(metadataKey, z.string().nullable()).refine(isShortEnough, TOO_LONG).nullish();

const effort = z.enum(EFFORTS);

export const modelConfigParams = z.strictObject({
  id: z.string().min(1),
  effort: z.union([effort, z.strictObject({ type: effort })]).nullish(),
  speed: z.enum(["standard", "fast"]).nullish(),
  inference_geo: z.string().nullish(),
});

const modelConfig = z.object({
  id: z.string(),
  effort: z.object({ type: effort }).optional(),
  speed: z.enum(["standard", "fast"]).optional(),
});

const permissionPolicy = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("always_allow") }),
  z.strictObject({ type: z.literal("always_ask") }),
  z.strictObject({ type: z.literal("auto") }),
]);
export type PermissionPolicy = z.infer<typeof permissionPolicy>;

/** The tools of Anthropic's toolset. Each stands for one or more of Claude Code's own. */
export const TOOLSET_TOOLS = ["bash", "edit", "read", "write", "glob", "grep", "web_fetch", "web_search"] as const;
export type ToolsetTool = (typeof TOOLSET_TOOLS)[number];

const policyParams = { enabled: z.boolean().nullish(), permission_policy: permissionPolicy.nullish() };
const policy = { enabled: z.boolean(), permission_policy: permissionPolicy };

/** Accepted here and rejected later, unless empty, so that the error names the way out. */
export const WEB_LIMITS = [
  "allowed_domains",
  "blocked_domains",
  "url_sources",
  "max_content_tokens",
  "user_location",
] as const;
const webLimits = Object.fromEntries(WEB_LIMITS.map((name) => [name, z.unknown()])) as Record<
  (typeof WEB_LIMITS)[number],
  z.ZodUnknown
>;

const toolsetParams = z.strictObject({
  type: z.literal("agent_toolset_20260401"),
  default_config: z.strictObject(policyParams).nullish(),
  configs: z
    .array(
      z.strictObject({
        name: z.enum(TOOLSET_TOOLS),
        type: z.enum(TOOLSET_TOOLS).optional(),
        ...policyParams,
        ...z.object(webLimits).partial().shape,
      }),
    )
    .optional(),
});

const mcpToolsetParams = z.strictObject({
  type: z.literal("mcp_toolset"),
  mcp_server_name: z.string().min(1),
  default_config: z.strictObject(policyParams).nullish(),
  configs: z.array(z.strictObject({ name: z.string().min(1), ...policyParams })).optional(),
});

const customTool = z.strictObject({
  type: z.literal("custom"),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/, "expected letters, digits, _ and - only"),
  description: z.string(),
  input_schema: z.looseObject({
    type: z.literal("object"),
    properties: z.record(z.string(), z.unknown()).nullish(),
    required: z.array(z.string()).nullish(),
  }),
});

export const toolParams = z.discriminatedUnion("type", [toolsetParams, mcpToolsetParams, customTool]);
export type ToolParams = z.infer<typeof toolParams>;

export const tool = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("agent_toolset_20260401"),
    default_config: z.object(policy),
    // `url_sources` exists only on `web_fetch`.
    configs: z.array(
      z.object({
        type: z.enum(TOOLSET_TOOLS),
        name: z.enum(TOOLSET_TOOLS),
        ...policy,
        url_sources: z.null().optional(),
      }),
    ),
  }),
  z.object({
    type: z.literal("mcp_toolset"),
    mcp_server_name: z.string(),
    default_config: z.object(policy),
    configs: z.array(z.object({ name: z.string(), ...policy })),
  }),
  customTool,
]);
export type Tool = z.infer<typeof tool>;
export type CustomTool = z.infer<typeof customTool>;

export const mcpServer = z.strictObject({
  type: z.literal("url"),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, "expected letters, digits, _ and - only"),
  url: z.string().min(1),
});
export type McpServer = z.infer<typeof mcpServer>;

const rosterEntry = z.union([
  z.string(),
  z.strictObject({ type: z.literal("agent"), id: z.string(), version: z.int().positive().optional() }),
  z.strictObject({ type: z.literal("self") }),
]);
const disabled = z.strictObject({ type: z.literal("disabled") });

const spawningParams = z.discriminatedUnion("type", [
  disabled,
  z.strictObject({
    type: z.literal("enabled"),
    inline_agents: z.discriminatedUnion("type", [disabled, z.strictObject({ type: z.literal("enabled") })]).nullish(),
    predefined_agents: z.array(rosterEntry).max(20).nullish(),
  }),
]);

/** Null and an omitted key mean enabled for `subagents` and `workflows`, disabled for `advisor`. */
const multiagentParams = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("coordinator"), agents: z.array(rosterEntry) }),
  z.strictObject({
    type: z.literal("multiagent_20261001"),
    subagents: spawningParams.nullish(),
    // Accepted here and rejected later, so that the error says that an advisor is unsupported.
    advisor: z
      .discriminatedUnion("type", [disabled, z.strictObject({ type: z.literal("enabled"), model: z.string() })])
      .nullish(),
    workflows: spawningParams.nullish(),
  }),
]);

export const agentReference = z.object({ type: z.literal("agent"), id: z.string(), version: z.int() });

const spawning = <Entry extends z.ZodType>(entry: Entry) =>
  z.discriminatedUnion("type", [
    disabled,
    z.object({
      type: z.literal("enabled"),
      inline_agents: z.discriminatedUnion("type", [disabled, z.object({ type: z.literal("enabled") })]),
      predefined_agents: z.array(entry),
    }),
  ]);

const multiagentOf = <Entry extends z.ZodType>(entry: Entry) =>
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("coordinator"), agents: z.array(entry) }),
    z.object({
      type: z.literal("multiagent_20261001"),
      subagents: spawning(entry),
      advisor: disabled,
      workflows: spawning(entry),
    }),
  ]);

const multiagent = multiagentOf(agentReference);
export type Multiagent = z.infer<typeof multiagent>;

const MAX_SKILLS = 20;
/** `anthropic` is accepted here and rejected later, so that the error says what to do instead. */
const skillParams = z.strictObject({
  type: z.enum(["custom", "anthropic"]),
  skill_id: z.string().min(1),
  version: z.string().min(1).nullish(),
});
export const skillsParams = z.array(skillParams).max(MAX_SKILLS);
export type AgentSkillParams = z.infer<typeof skillParams>;
/** In an agent, `version` may be `latest`; in a session, it is the id of a version. */
const agentSkill = z.object({ type: z.enum(["custom", "anthropic"]), skill_id: z.string(), version: z.string() });
export type AgentSkill = z.infer<typeof agentSkill>;
const executionIdentity = z.object({ type: z.literal("service_account") });

const definition = {
  description: z.string().max(2_048).nullish(),
  system: z.string().max(200_000).nullish(),
  multiagent: multiagentParams.nullish(),
  execution_identity: z.looseObject({ type: z.string() }).nullish(),
};
const model = z.union([z.string().min(1), modelConfigParams]);

export const agentCreateParams = z
  .strictObject({
    name: z.string().min(1).max(256),
    model,
    ...definition,
    tools: z.array(toolParams).optional(),
    mcp_servers: z.array(mcpServer).optional(),
    skills: skillsParams.optional(),
    metadata: metadata.optional(),
  })
  .meta({ id: "AgentCreate" });
export type AgentCreateParams = z.infer<typeof agentCreateParams>;

export const agentUpdateParams = z
  .strictObject({
    name: z.string().min(1).max(256).optional(),
    model: model.optional(),
    ...definition,
    tools: z.array(toolParams).nullish(),
    mcp_servers: z.array(mcpServer).nullish(),
    skills: skillsParams.nullish(),
    metadata: metadataUpdate,
    /** If this is not the newest version, the update fails with 409. */
    version: z.int().positive().optional(),
  })
  .meta({ id: "AgentUpdate" });
export type AgentUpdateParams = z.infer<typeof agentUpdateParams>;

const described = {
  type: z.literal("agent"),
  id: z.string(),
  version: z.int(),
  name: z.string(),
  description: z.string().nullable(),
  model: modelConfig,
  system: z.string().nullable(),
  tools: z.array(tool),
  mcp_servers: z.array(mcpServer),
  skills: z.array(agentSkill),
  execution_identity: executionIdentity,
};

export const agent = z
  .object({
    ...described,
    multiagent: multiagent.nullable(),
    metadata: z.record(z.string(), z.string()),
    created_at: z.string(),
    updated_at: z.string(),
    archived_at: z.string().nullable(),
  })
  .meta({ id: "Agent" });
export type Agent = z.infer<typeof agent>;

/** The agent of a thread, as it was when the session began. */
export const threadAgent = z.object(described).meta({ id: "ThreadAgent" });
export type ThreadAgent = z.infer<typeof threadAgent>;

/** The agent of a session, a snapshot with its roster resolved. */
export const sessionAgent = z
  .object({ ...described, multiagent: multiagentOf(threadAgent).nullable() })
  .meta({ id: "SessionAgent" });
export type SessionAgent = z.infer<typeof sessionAgent>;

export const agentsApi = {
  "agents.create": { body: agentCreateParams, response: agent },
  "agents.list": {
    query: z.strictObject({ ...pageQuery, ...includeArchived, ...createdBetween }),
    response: pageOf(agent),
  },
  "agents.retrieve": { query: z.strictObject({ version: count().min(1).optional() }), response: agent },
  "agents.update": { body: agentUpdateParams, response: agent },
  "agents.archive": { response: agent },
  "agents.versions.list": { query: z.strictObject(pageQuery), response: pageOf(agent) },
};
