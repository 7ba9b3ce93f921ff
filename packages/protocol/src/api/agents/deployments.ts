import { z } from "zod";
import { budget } from "../../events/usage-snapshot.ts";
import { PAUSING_ERRORS, PASSING_ERRORS } from "../../words.ts";
import { agentReference, metadata, metadataUpdate } from "./agents.ts";
import { createdBetween, includeArchived, pageOf, pageQuery } from "../page.ts";
import { sessionCreateParams } from "../sessions/sessions.ts";

// Deployments in the shapes of Anthropic's Managed Agents API: an agent with all that it needs to run by itself.

const { resources, vault_ids: vaults, initial_events: events } = sessionCreateParams.shape;

const name = z.string().min(1).max(256);
const description = z.string().max(2_048).nullish();
const agent = z.union([
  z.string().min(1),
  z.strictObject({ type: z.literal("agent"), id: z.string().min(1), version: z.int().positive().optional() }),
]);
const environmentId = z.string().min(1);
const initialEvents = events.unwrap().min(1, "expected at least one event");
const resourceList = resources.unwrap().max(500);
const vaultIds = vaults.unwrap();
const cronSchedule = z.strictObject({
  type: z.literal("cron"),
  expression: z.string().min(1),
  timezone: z.string().min(1).max(100),
});

export const deploymentCreateParams = z
  .strictObject({
    name,
    description,
    agent,
    environment_id: environmentId,
    initial_events: initialEvents,
    schedule: cronSchedule.nullish(),
    budget: budget.nullish(),
    resources: resourceList.optional(),
    vault_ids: vaultIds.optional(),
    metadata: metadata.optional(),
  })
  .meta({ id: "DeploymentCreate" });
export type DeploymentCreateParams = z.infer<typeof deploymentCreateParams>;

/** An omitted field stays. Null clears `description`, `schedule`, `budget`, `resources` and `vault_ids`. */
const deploymentUpdateParams = z
  .strictObject({
    name: name.optional(),
    description,
    agent: agent.optional(),
    environment_id: environmentId.optional(),
    initial_events: initialEvents.optional(),
    schedule: cronSchedule.nullish(),
    budget: budget.nullish(),
    resources: resourceList.nullish(),
    vault_ids: vaultIds.nullish(),
    metadata: metadataUpdate,
  })
  .meta({ id: "DeploymentUpdate" });
export type DeploymentUpdateParams = z.infer<typeof deploymentUpdateParams>;

export const pausedReason = z.discriminatedUnion("type", [
  z.object({ type: z.literal("manual") }),
  z.object({ type: z.literal("error"), error: z.object({ type: z.enum(PAUSING_ERRORS) }) }),
]);

export const deployment = z
  .object({
    type: z.literal("deployment"),
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    agent: agentReference,
    environment_id: z.string(),
    initial_events: z.array(z.looseObject({ type: z.string() })),
    schedule: z
      .object({
        type: z.literal("cron"),
        expression: z.string(),
        timezone: z.string(),
        last_run_at: z.string().nullable().meta({ description: "The start of the last scheduled run." }),
        upcoming_runs_at: z.array(z.string()).meta({ description: "At most five; none once it is archived." }),
      })
      .nullable(),
    budget: budget.nullable(),
    resources: z.array(z.looseObject({ type: z.string() })).meta({ description: "Without tokens." }),
    vault_ids: z.array(z.string()),
    metadata: z.record(z.string(), z.string()),
    status: z.enum(["active", "paused"]),
    paused_reason: pausedReason.nullable(),
    created_at: z.string(),
    updated_at: z.string(),
    archived_at: z.string().nullable(),
    tandem: z.object({
      warnings: z.array(z.string()).meta({ description: "Why a run may stop and wait for a person." }),
    }),
  })
  .meta({ id: "Deployment" });
export type Deployment = z.infer<typeof deployment>;

export const runError = z.object({ type: z.enum([...PAUSING_ERRORS, ...PASSING_ERRORS]), message: z.string() });
export type DeploymentRunError = z.infer<typeof runError>;

export const missedRuns = z.object({
  reason: z.enum(["downtime", "stopped", "no_worker"]),
  earlier: z.int().optional().meta({ description: "Older missed times that have no run of their own." }),
});

export const deploymentRun = z
  .object({
    type: z.literal("deployment_run"),
    id: z.string(),
    deployment_id: z.string(),
    agent: agentReference,
    trigger_context: z.discriminatedUnion("type", [
      z.object({ type: z.literal("manual") }),
      z.object({ type: z.literal("schedule"), scheduled_at: z.string() }),
    ]),
    session_id: z.string().nullable().meta({ description: "Either this or `error` is null." }),
    error: runError.nullable(),
    created_at: z.string(),
    tandem: z
      .object({
        missed: missedRuns.optional().meta({ description: "On a scheduled time at which no session was started." }),
        trigger: z
          .object({ id: z.string(), event: z.string().nullable() })
          .optional()
          .meta({ description: "The trigger whose delivery has started the run." }),
      })
      .optional(),
  })
  .meta({ id: "DeploymentRun" });
export type DeploymentRun = z.infer<typeof deploymentRun>;

export const deploymentsApi = {
  "deployments.create": { body: deploymentCreateParams, response: deployment },
  "deployments.list": {
    query: z.strictObject({
      ...pageQuery,
      ...includeArchived,
      ...createdBetween,
      agent_id: z.string().optional(),
      status: z.enum(["active", "paused"]).optional(),
    }),
    response: pageOf(deployment),
  },
  "deployments.retrieve": { response: deployment },
  "deployments.update": { body: deploymentUpdateParams, response: deployment },
  "deployments.archive": { response: deployment },
  "deployments.pause": { response: deployment },
  "deployments.unpause": { response: deployment },
  "deployments.run": { response: deploymentRun },
  "deploymentRuns.list": {
    query: z.strictObject({
      ...pageQuery,
      ...createdBetween,
      deployment_id: z.string().optional(),
      has_error: z.enum(["true", "false"]).optional(),
      trigger_type: z.enum(["schedule", "manual"]).optional(),
    }),
    response: pageOf(deploymentRun),
  },
  "deploymentRuns.retrieve": { response: deploymentRun },
};
