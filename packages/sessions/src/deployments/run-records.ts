import { newId, type DeploymentRunId, isoNow, type Clock } from "@tandem/protocol";
import type { StartingRun, StoredDeployment, StoredRun } from "./stored-deployment.ts";

/** A process that creates a session renews its claim three times within this. */
export const CLAIM_MS = 30_000;

type FailedRun = Extract<StoredRun, { state: "failed" }>;
type Missed = NonNullable<FailedRun["missed"]>;

const WHY_MISSED: Record<Missed["reason"], string> = {
  downtime: "No server was running at that time.",
  stopped: "Everything was stopped at that time.",
  no_worker: "No running worker had the environment's folder and labels.",
};

export const missedError = (reason: Missed["reason"], why = WHY_MISSED[reason]): FailedRun["error"] => ({
  // One of the two types after which a schedule continues.
  type: "session_creation_rejected_error",
  message: `Missed: ${why}`,
});

export function newRun(
  { id: deployment, agent }: StoredDeployment,
  { time, id, by }: { time: number | null; id: DeploymentRunId; by: string },
  clock: Clock,
): StartingRun {
  return {
    state: "starting",
    id,
    deployment,
    agent,
    scheduledAt: time === null ? null : new Date(time).toISOString(),
    createdAt: isoNow(clock),
    session: newId("session", clock.now()),
    by,
    attempts: 1,
    retryAt: claimEnd(clock),
  };
}

export function missedRun(
  { id: deployment, agent }: StoredDeployment,
  { time, id, missed, why }: { time: number; id: DeploymentRunId; missed: Missed; why?: string },
  clock: Clock,
): FailedRun {
  return {
    state: "failed",
    id,
    deployment,
    agent,
    scheduledAt: new Date(time).toISOString(),
    createdAt: isoNow(clock),
    error: missedError(missed.reason, why),
    missed,
  };
}

export const claimEnd = (clock: Clock): string => new Date(clock.now() + CLAIM_MS).toISOString();
