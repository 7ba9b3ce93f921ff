import type { Deployment, DeploymentRun } from "@tandem/protocol";
import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { useChange } from "../../api/use-change.ts";

const DEPLOYMENTS = ["/v1/deployments"];
const SHOWN_RUNS = 3;
/** Runs start by themselves, without an event that the page follows. */
const REFRESH_MS = 15_000;

export const useDeployments = () =>
  useQuery({
    queryKey: DEPLOYMENTS,
    queryFn: async ({ signal }): Promise<Deployment[]> =>
      (await api.call("deployments.list", { query: { limit: 1_000 }, signal })).data,
    refetchInterval: REFRESH_MS,
  });

export const useLastRuns = (deployment: string) =>
  useQuery({
    queryKey: [...DEPLOYMENTS, deployment, "runs"],
    queryFn: async ({ signal }): Promise<DeploymentRun[]> =>
      (await api.call("deploymentRuns.list", { query: { deployment_id: deployment, limit: SHOWN_RUNS }, signal })).data,
    refetchInterval: REFRESH_MS,
  });

/** Runs a call that changes deployments or runs, and reloads both. */
export const useDeploymentChange = <Value = void>(act: (value: Value) => Promise<unknown>, onDone?: () => void) =>
  useChange(DEPLOYMENTS, act, onDone);
