import type { RefusedRoute } from "../../route.ts";

const resource = (name: string, what: string, instead = ""): RefusedRoute => ({
  kind: "refused",
  name,
  path: `/v1/${name}`,
  reason: `Tandem has no ${what}.${instead && ` ${instead}`}`,
});

/** Parts of Anthropic's API that Tandem does not support. Each covers all paths below its own. */
export const refusedRoutes: RefusedRoute[] = [
  resource("messages", "Messages API", "Send messages into a session."),
  resource("complete", "completions", "Send messages into a session."),
  resource("batches", "batches"),
  resource("vaults", "vaults"),
  resource("deployments", "deployments"),
  resource("deployment_runs", "deployments"),
  resource("dreams", "dreams"),
  resource("user_profiles", "user profiles"),
  resource("tunnels", "tunnels"),
  resource("organizations", "organizations"),
  {
    kind: "refused",
    name: "environments.work",
    path: "/v1/environments/:environment_id/work",
    reason: "Tandem has no self-hosted environments: it runs the tools itself.",
  },
];
