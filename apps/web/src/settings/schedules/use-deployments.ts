import type { Deployment, DeploymentRun } from "@tandem/protocol";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

const DEPLOYMENTS = ["/v1/deployments"];
const RUNS = ["/v1/deployment_runs"];
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
    queryKey: [...RUNS, deployment],
    queryFn: async ({ signal }): Promise<DeploymentRun[]> =>
      (await api.call("deploymentRuns.list", { query: { deployment_id: deployment, limit: SHOWN_RUNS }, signal })).data,
    refetchInterval: REFRESH_MS,
  });

/** Runs a call that changes deployments or runs, and reloads both. */
export function useChange<T>(act: (value: T) => Promise<unknown>, onDone?: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSuccess: () => onDone?.(),
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: DEPLOYMENTS });
      await queries.invalidateQueries({ queryKey: RUNS });
    },
  });
}
