import { SESSION_METADATA, type Agent, type Deployment, type DeploymentRun } from "@tandem/protocol";
import { decide } from "@tandem/policy";
import { handledTo, upcoming, type SettledRun, type StoredDeployment } from "./stored-deployment.ts";

const SHOWN_TIMES = 5;
/** One tool of Claude Code for each tool of the toolset that may change something or leave the machine. */
const CHECKED = {
  bash: "Bash",
  edit: "Edit",
  write: "Write",
  read: "Read",
  web_fetch: "WebFetch",
  web_search: "WebSearch",
};
const EDITS = new Set(["edit", "write"]);

/** A deployment as clients see it. */
export function deploymentView(
  stored: StoredDeployment,
  agent: Agent | undefined,
  now: number,
  mode: string,
): Deployment {
  const after = Math.max(now, handledTo(stored, now));
  const times = stored.archivedAt === null ? upcoming(stored, after, SHOWN_TIMES) : [];
  return {
    type: "deployment",
    id: stored.id,
    name: stored.name,
    description: stored.description,
    agent: { type: "agent", ...stored.agent },
    environment_id: stored.environmentId,
    initial_events: stored.initialEvents,
    schedule: stored.schedule && {
      type: "cron",
      ...stored.schedule,
      last_run_at: stored.lastRunAt,
      upcoming_runs_at: times.map((time) => new Date(time).toISOString()),
    },
    budget: stored.budget,
    resources: stored.resources,
    vault_ids: stored.vaultIds,
    metadata: stored.metadata,
    status: stored.paused && stored.archivedAt === null ? "paused" : "active",
    paused_reason: stored.archivedAt === null ? stored.paused : null,
    created_at: stored.createdAt,
    updated_at: stored.updatedAt,
    archived_at: stored.archivedAt,
    tandem: { warnings: agent ? warningsOf(agent, stored.metadata[SESSION_METADATA.permissionMode] ?? mode) : [] },
  };
}

/** Why a run may stop and wait. Rules, which may allow calls that the policy asks for, are not considered. */
function warningsOf({ tools }: Agent, mode: string): string[] {
  const asks = Object.entries(CHECKED).flatMap(([name, tool]) =>
    decide(tools, { name: tool }).permission === "ask" && !(mode === "acceptEdits" && EDITS.has(name)) ? [name] : [],
  );
  const servers = tools.flatMap((tool) =>
    tool.type === "mcp_toolset" && tool.default_config.permission_policy.type !== "always_allow"
      ? [tool.mcp_server_name]
      : [],
  );
  const custom = tools.flatMap((tool) => (tool.type === "custom" ? [tool.name] : []));
  const all = [...asks, ...servers.map((name) => `the MCP server ${name}`)];
  return [
    ...(all.length > 0 && mode !== "bypassPermissions"
      ? [
          `The agent's policy asks before calls of ${all.join(", ")}. Unless a rule allows them, a run waits in the inbox.`,
        ]
      : []),
    ...(custom.length > 0 ? [`A run waits until a client answers calls of ${custom.join(", ")}.`] : []),
  ];
}

/** A run as clients see it. */
export function runView(run: SettledRun): DeploymentRun {
  return {
    type: "deployment_run",
    id: run.id,
    deployment_id: run.deployment,
    agent: { type: "agent", ...run.agent },
    trigger_context:
      run.scheduledAt === null ? { type: "manual" } : { type: "schedule", scheduled_at: run.scheduledAt },
    session_id: run.state === "started" ? run.session : null,
    error: run.state === "failed" ? run.error : null,
    created_at: run.createdAt,
    ...tandemOf(run),
  };
}

function tandemOf(run: SettledRun): Pick<DeploymentRun, "tandem"> {
  const missed = run.state === "failed" ? run.missed : undefined;
  if (!missed && !run.trigger) return {};
  return {
    tandem: {
      ...(missed && { missed }),
      ...(run.trigger && { trigger: { id: run.trigger.trigger, event: run.trigger.event } }),
    },
  };
}
