import {
  deploymentCreateParams,
  missedRuns,
  parseCron,
  pausedReason,
  runError,
  upcomingTimes,
  type Cron,
  type DeploymentId,
  type DeploymentRunId,
  type SessionId,
} from "@tandem/protocol";
import { z } from "zod";
import { runCause } from "../triggers/run-cause.ts";
import { storedTokens } from "./resource-tokens.ts";

// The records of deployments. Names are stored, so they do not change.

const { initial_events: events, resources, budget } = deploymentCreateParams.shape;

const schedule = z.object({ expression: z.string(), timezone: z.string() });

export const storedDeployment = z.object({
  id: z.custom<DeploymentId>((value) => typeof value === "string"),
  name: z.string(),
  description: z.string().nullable(),
  agent: z.object({ id: z.string(), version: z.int() }),
  environmentId: z.string(),
  initialEvents: events,
  resources: resources.unwrap(),
  tokens: storedTokens,
  vaultIds: z.array(z.string()),
  budget: budget.unwrap().unwrap().nullable(),
  metadata: z.record(z.string(), z.string()),
  schedule: schedule.nullable(),
  paused: pausedReason.nullable(),
  /** Scheduled times up to this one have been handled. It moves back only if the clock was far ahead. */
  handledTo: z.string(),
  lastRunAt: z.string().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  archivedAt: z.string().nullable(),
});
export type StoredDeployment = z.infer<typeof storedDeployment>;

const runBase = {
  id: z.custom<DeploymentRunId>((value) => typeof value === "string"),
  deployment: z.string(),
  agent: z.object({ id: z.string(), version: z.int() }),
  /** Null for a manual run. */
  scheduledAt: z.string().nullable(),
  createdAt: z.string(),
  /** The trigger of a run that a delivery has started. */
  trigger: runCause.pick({ trigger: true, event: true }).optional(),
};

/** The session's id is chosen before the session is created, so that a retry after a crash cannot create a second one. */
export const storedRun = z.discriminatedUnion("state", [
  z.object({
    ...runBase,
    state: z.literal("starting"),
    session: z.custom<SessionId>((value) => typeof value === "string"),
    by: z.string(),
    cause: runCause.optional(),
    attempts: z.int(),
    /** From then on, another process may take over. The process that creates the session renews it. */
    retryAt: z.string(),
  }),
  z.object({ ...runBase, state: z.literal("started"), session: z.string() }),
  z.object({ ...runBase, state: z.literal("failed"), error: runError, missed: missedRuns.optional() }),
]);
export type StoredRun = z.infer<typeof storedRun>;
export type StartingRun = Extract<StoredRun, { state: "starting" }>;
export type SettledRun = Exclude<StoredRun, StartingRun>;

/** Null if it has none that can fire. */
export function scheduleOf({
  schedule: found,
}: Pick<StoredDeployment, "schedule">): { cron: Cron; zone: string } | null {
  const parsed = found && parseCron(found.expression);
  return parsed?.ok ? { cron: parsed.cron, zone: found!.timezone } : null;
}

/** The time that the scheduler waits for; undefined if the deployment does not fire by itself. */
export function nextTime(deployment: StoredDeployment, now: number): number | undefined {
  if (deployment.paused || deployment.archivedAt !== null) return undefined;
  return upcoming(deployment, handledTo(deployment, now), 1)[0];
}

export function upcoming(deployment: StoredDeployment, after: number, limit: number): number[] {
  const found = scheduleOf(deployment);
  return found ? upcomingTimes(found.cron, found.zone, after, limit) : [];
}

const CLOCK_ERROR_MS = 24 * 60 * 60 * 1_000;

/** A mark far in the future comes from a clock that was wrong. Each time has one run at most, so it may be ignored. */
export function handledTo({ handledTo: mark }: StoredDeployment, now: number): number {
  const at = Date.parse(mark);
  return at > now + CLOCK_ERROR_MS ? now : at;
}
