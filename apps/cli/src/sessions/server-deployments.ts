import type { ServerConnection } from "./server-connection.ts";
import type { SessionsClient } from "./sessions-client.ts";

/** Creating a session may prepare a worktree, which takes as long as the config allows. */
const SETUP_MS = 24 * 60 * 60 * 1_000;

/** The deployments of the running server. */
export function deploymentsOf({ api }: ServerConnection): SessionsClient["deployments"] {
  const params = (id: string) => ({ deployment_id: id });
  return {
    create: (body) => api.call("deployments.create", { body }),
    get: (id) => api.call("deployments.retrieve", { params: params(id) }),
    update: (id, body) => api.call("deployments.update", { params: params(id), body }),
    archive: (id) => api.call("deployments.archive", { params: params(id) }),
    pause: (id) => api.call("deployments.pause", { params: params(id) }),
    unpause: (id) => api.call("deployments.unpause", { params: params(id) }),
    run: (id) => api.call("deployments.run", { params: params(id), signal: AbortSignal.timeout(SETUP_MS) }),
    list: async ({ limit, cursor, includeArchived }) => {
      const query = { limit, page: cursor, include_archived: includeArchived ? ("true" as const) : ("false" as const) };
      const { data, next_page: next } = await api.call("deployments.list", { query });
      return { data, next, previous: null };
    },
    runs: {
      get: (id) => api.call("deploymentRuns.retrieve", { params: { deployment_run_id: id } }),
      list: async ({ limit, cursor, deploymentId }) => {
        const query = { limit, page: cursor, deployment_id: deploymentId };
        const { data, next_page: next } = await api.call("deploymentRuns.list", { query });
        return { data, next, previous: null };
      },
    },
  };
}
