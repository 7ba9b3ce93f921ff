import { RequestError, SESSION_METADATA, type SessionCreateParams } from "@tandem/protocol";
import type { FileStore } from "@tandem/storage";
import type { AgentCatalogue } from "../resources/agents.ts";
import type { RunCause } from "../triggers/run-cause.ts";
import type { StoredDeployment } from "./stored-deployment.ts";

type Definition = Pick<
  StoredDeployment,
  "agent" | "environmentId" | "initialEvents" | "resources" | "vaultIds" | "budget" | "metadata"
>;

/** The request for the session of a run. Metadata that configures sessions is passed on to each of them. */
export function sessionOfRun(
  { agent, environmentId, budget, ...definition }: Definition,
  cause?: RunCause,
): SessionCreateParams {
  const settings = Object.entries(definition.metadata).filter(([key]) => key.startsWith("tandem."));
  if (cause?.requester) settings.push([SESSION_METADATA.requester, cause.requester]);
  return {
    agent: { type: "agent", ...agent },
    environment_id: environmentId,
    initial_events: cause ? withDelivery(definition.initialEvents, cause.text) : definition.initialEvents,
    ...(definition.resources.length > 0 && { resources: definition.resources }),
    ...(definition.vaultIds.length > 0 && { vault_ids: definition.vaultIds }),
    ...(budget && { budget }),
    ...(settings.length > 0 && { metadata: Object.fromEntries(settings) }),
  };
}

/** The agent reads the delivery first, and then what it is to do with it. */
function withDelivery(events: Definition["initialEvents"], text: string): Definition["initialEvents"] {
  const delivered = { type: "text" as const, text };
  const first = events.findIndex(({ type }) => type === "user.message");
  if (first === -1) return [{ type: "user.message", content: [delivered] }, ...events];
  return events.map((event, index) =>
    index === first && event.type === "user.message" ? { ...event, content: [delivered, ...event.content] } : event,
  );
}

/** Finds references that are gone, with an error that tells their kind. */
export async function checkReferences(
  { agent, resources }: Pick<Definition, "agent" | "resources">,
  { agents, files }: { agents: Pick<AgentCatalogue, "get">; files: Pick<FileStore, "get"> },
): Promise<void> {
  for (const resource of resources) {
    if (resource.type !== "file" || (await files.get(resource.file_id))) continue;
    throw new RequestError("not_found", `There is no file ${resource.file_id}.`, { detail: "file_not_found" });
  }
  const { multiagent } = await agents.get(agent.id, agent.version);
  const roster =
    multiagent?.type === "coordinator"
      ? multiagent.agents
      : [multiagent?.subagents, multiagent?.workflows].flatMap((spawning) =>
          spawning?.type === "enabled" ? spawning.predefined_agents : [],
        );
  for (const { id } of roster) {
    if ((await agents.get(id)).archived_at === null) continue;
    throw new RequestError("invalid_request", `The subagent ${id} is archived.`, { detail: "agent_archived" });
  }
}
