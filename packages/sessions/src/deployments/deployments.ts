import type {
  Deployment,
  DeploymentCreateParams,
  DeploymentId,
  DeploymentRun,
  DeploymentRunId,
  DeploymentUpdateParams,
} from "@tandem/protocol";
import type { Page, PageQuery } from "@tandem/storage";

/** Agents that run by themselves: at scheduled times, and on request. */
export interface Deployments {
  /** Here and below, `by` is the caller's name for the audit. */
  create(params: DeploymentCreateParams, by?: string, id?: DeploymentId): Promise<Deployment>;
  get(id: string): Promise<Deployment>;
  update(id: string, params: DeploymentUpdateParams, by?: string): Promise<Deployment>;
  list(query: DeploymentQuery): Promise<Page<Deployment>>;
  archive(id: string, by?: string): Promise<Deployment>;
  pause(id: string, by?: string): Promise<Deployment>;
  /** The schedule continues with its next time; times that passed meanwhile are not made up for. */
  unpause(id: string, by?: string): Promise<Deployment>;
  /** Starts a session now, also if the deployment is paused. With the same `run`, it starts only one. */
  run(id: string, by?: string, run?: DeploymentRunId): Promise<DeploymentRun>;
  readonly runs: {
    get(id: string): Promise<DeploymentRun>;
    list(query: RunQuery): Promise<Page<DeploymentRun>>;
  };
}

export type DeploymentQuery = PageQuery & { agentId?: string | undefined; status?: "active" | "paused" | undefined };

export type RunQuery = PageQuery & {
  deploymentId?: string | undefined;
  hasError?: boolean | undefined;
  trigger?: "schedule" | "manual" | undefined;
};
