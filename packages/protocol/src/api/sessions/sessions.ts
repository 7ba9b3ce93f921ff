import { z } from "zod";
import {
  mcpServer,
  metadata,
  metadataUpdate,
  modelConfigParams,
  sessionAgent,
  skillsParams,
  threadAgent,
  toolParams,
} from "../agents/agents.ts";
import { systemMessage, userMessage } from "../../events/client-event.ts";
import { userDefineOutcome } from "../../events/define-outcome.ts";
import { budget, usageSnapshot } from "../../events/usage-snapshot.ts";
import { outcomeEvaluation } from "./outcome-evaluation.ts";
import { count, createdBetween, deletedOf, includeArchived, order, pageQuery, twoWayPageOf } from "../page.ts";

import { MAX_RESOURCES, sessionResource, sessionResourceParams } from "./mounted-resource.ts";

export { SESSION_METADATA } from "../../words.ts";

export const SESSION_STATUSES = ["idle", "running", "rescheduling", "terminated"] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

const agentParams = z.union([
  z.string().min(1),
  z.strictObject({ type: z.literal("agent"), id: z.string(), version: z.int().positive().optional() }),
  z.strictObject({
    type: z.literal("agent_with_overrides"),
    id: z.string(),
    version: z.int().positive().optional(),
    model: z.union([z.string().min(1), modelConfigParams]).optional(),
    system: z.string().nullish(),
    tools: z.array(toolParams).optional(),
    mcp_servers: z.array(mcpServer).optional(),
    skills: skillsParams.optional(),
  }),
]);

export const sessionCreateParams = z
  .strictObject({
    agent: agentParams,
    environment_id: z.string().min(1),
    title: z.string().max(512).nullish(),
    metadata: metadata.optional(),
    resources: z.array(sessionResourceParams).max(MAX_RESOURCES).optional(),
    vault_ids: z.array(z.string().min(1)).max(50).optional(),
    budget: budget.optional(),
    /** At most 50, with at most one outcome. */
    initial_events: z
      .array(z.discriminatedUnion("type", [userMessage, systemMessage, userDefineOutcome]))
      .max(50)
      .refine((events) => events.filter(({ type }) => type === "user.define_outcome").length <= 1, {
        error: "expected at most one user.define_outcome",
      })
      .optional(),
  })
  .meta({ id: "SessionCreate" });
export type SessionCreateParams = z.infer<typeof sessionCreateParams>;

export const sessionUpdateParams = z
  .strictObject({
    title: z.string().max(512).nullish(),
    metadata: metadataUpdate,
    agent: z
      .strictObject({ tools: z.array(toolParams).optional(), mcp_servers: z.array(mcpServer).optional() })
      .optional(),
    budget: budget.nullish(),
    vault_ids: z.array(z.string()).optional(),
  })
  .meta({ id: "SessionUpdate" });
export type SessionUpdateParams = z.infer<typeof sessionUpdateParams>;

const stats = z.object({ active_seconds: z.number(), duration_seconds: z.number() });

export const session = z
  .object({
    type: z.literal("session"),
    id: z.string(),
    status: z.enum(SESSION_STATUSES),
    agent: sessionAgent,
    environment_id: z.string(),
    title: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    resources: z.array(sessionResource),
    vault_ids: z.array(z.string()),
    budget: budget.nullable(),
    usage: usageSnapshot,
    stats,
    outcome_evaluations: z.array(outcomeEvaluation),
    deployment_id: z.string().nullable(),
    created_at: z.string(),
    updated_at: z.string(),
    archived_at: z.string().nullable(),
  })
  .meta({ id: "Session" });
export type Session = z.infer<typeof session>;

/** A subagent defined inline has no stored agent. */
const inlineAgent = threadAgent.omit({ id: true, version: true, type: true }).extend({ type: z.literal("inline") });

export const thread = z
  .object({
    type: z.literal("session_thread"),
    id: z.string(),
    session_id: z.string(),
    parent_thread_id: z.string().nullable(),
    agent: z.discriminatedUnion("type", [threadAgent, inlineAgent]),
    status: z.enum(SESSION_STATUSES),
    stats: stats.nullable(),
    usage: usageSnapshot.nullable(),
    workflow_run_id: z.string().nullable(),
    created_at: z.string(),
    updated_at: z.string(),
    archived_at: z.string().nullable(),
  })
  .meta({ id: "Thread" });
export type Thread = z.infer<typeof thread>;

export const file = z
  .object({
    type: z.literal("file"),
    id: z.string(),
    filename: z.string(),
    mime_type: z.string(),
    size_bytes: z.int(),
    created_at: z.string(),
    expires_at: z.string().nullable(),
    downloadable: z.boolean(),
    scope: z.object({ type: z.literal("session"), id: z.string() }).nullable(),
  })
  .meta({ id: "File" });
export type FileMetadata = z.infer<typeof file>;

const listQuery = z.strictObject({
  ...pageQuery,
  ...includeArchived,
  ...order,
  ...createdBetween,
  agent_id: z.string().optional(),
  agent_version: count().min(1).optional(),
  statuses: z.array(z.enum(SESSION_STATUSES)).optional(),
  deployment_id: z.string().optional(),
  memory_store_id: z.string().optional(),
});

export const sessionsApi = {
  "sessions.create": { body: sessionCreateParams, response: session },
  "sessions.list": { query: listQuery, response: twoWayPageOf(session) },
  "sessions.retrieve": { response: session },
  "sessions.update": { body: sessionUpdateParams, response: session },
  "sessions.archive": { response: session },
  "sessions.delete": { response: deletedOf("session_deleted") },
};
