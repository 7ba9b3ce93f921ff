import {
  AGENT_METADATA,
  duration,
  newId,
  RequestError,
  parseSessionLimits,
  SESSION_METADATA,
  type Agent,
  type Session,
  type SessionCreateParams,
  type SessionEvent,
  type SessionId,
  type SessionResourceParams,
  type ThreadAgent,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import type { FileStore, SessionRow } from "@tandem/storage";
import { restorePasswords } from "../mcp/server-passwords.ts";
import type { AgentCatalogue } from "./agents.ts";
import { checkBudgetable } from "../budgets/check-budget.ts";
import { jsonObject } from "../process/conversation-setup.ts";
import { sentBy } from "./sent-by.ts";
import { rosterOf } from "../log/agent-roster.ts";
import { checkSkillCount, pinSkills } from "../skills/agent-skills.ts";
import { noUsageYet } from "../log/usage-ledger.ts";

/** A validated session request, complete except for its folder. */
export interface SessionDraft {
  row: Omit<SessionRow, "folder" | "resources">;
  input: SessionEvent[];
  resources: SessionResourceParams[];
}

export async function draftSession(
  params: SessionCreateParams,
  agents: AgentCatalogue,
  files: FileStore,
  clock: Clock,
  by?: string,
  id: SessionId = newId("session"),
): Promise<SessionDraft> {
  const metadata = params.metadata ?? {};
  checkMetadata(metadata);
  const at = isoNow(clock);
  const { agent, vaults } = await resolveAgent(params.agent, agents);
  const vaultIds = [...new Set([...(params.vault_ids ?? []), ...vaults])];
  if (params.budget) checkBudgetable(agent);
  return {
    row: {
      id,
      status: "idle",
      agent,
      environmentId: params.environment_id,
      title: params.title ?? null,
      metadata,
      budget: params.budget ?? null,
      usage: noUsageYet(),
      activeMs: 0,
      waitingFor: [],
      place: null,
      claudeSession: undefined,
      primaryThread: newId("thread"),
      ...(vaultIds.length > 0 && { vaultIds }),
      createdAt: at,
      updatedAt: at,
      archivedAt: null,
    },
    input: (params.initial_events ?? []).map((event) => sentBy(event, by, clock)),
    resources: await checkResources(params.resources ?? [], files),
  };
}

/** Our keys in a session's metadata. An unknown key is rejected as a typo. */
export function checkMetadata(metadata: Record<string, string>): void {
  const known = Object.values(SESSION_METADATA) as string[];
  for (const [key, value] of Object.entries(metadata)) {
    if (!key.startsWith("tandem.")) continue;
    if (!known.includes(key)) {
      throw invalid(`metadata.${key}: there is no such setting of a session; known: ${known.join(", ")}`);
    }
    if (key === SESSION_METADATA.maxTurns && !/^[1-9]\d{0,5}$/.test(value)) {
      throw invalid(`metadata.${key}: expected a number of at least 1`);
    }
    if (key === SESSION_METADATA.system && value !== "replace" && value !== "append") {
      throw invalid(`metadata.${key}: expected "append" or "replace"`);
    }
    if (key === SESSION_METADATA.outputSchema) checkSchema(key, value);
    if (key === SESSION_METADATA.worktree && !/^[A-Za-z0-9][\w./-]{0,99}$/.test(value)) {
      throw invalid(`metadata.${key}: expected a name such as fix-login: letters, digits, dots and dashes`);
    }
    if (key === SESSION_METADATA.questions && value !== "on" && value !== "off") {
      throw invalid(`metadata.${key}: expected "on" or "off"`);
    }
    if (key === SESSION_METADATA.requester && (/\p{Cc}/u.test(value) || value.trim() === "")) {
      throw invalid(`metadata.${key}: expected one line, such as Ann <ann@example.com>`);
    }
    if (key === SESSION_METADATA.policyHook && !(duration.safeParse(value).data ?? 0)) {
      throw invalid(`metadata.${key}: expected the time that a client has for an answer, such as 30s or 5m`);
    }
    if (key === SESSION_METADATA.approvalExpiry && !duration.safeParse(value).success) {
      throw invalid(`metadata.${key}: expected a duration such as 30m, 8h or 2d`);
    }
    if (key === SESSION_METADATA.onQuota && value !== "wait" && value !== "stop") {
      throw invalid(`metadata.${key}: expected "wait" or "stop"`);
    }
    if (key === SESSION_METADATA.requester && !/^[^<>\r\n]{1,100} <[^<>\s@]+@[^<>\s@]+>$/.test(value)) {
      throw invalid(`metadata.${key}: expected Name <address@example.com>`);
    }
    if (key === SESSION_METADATA.limits && !parseSessionLimits(value)) {
      throw invalid(`metadata.${key}: expected JSON such as {"turn":{"requests":50},"session":{"usd":2.5}}`);
    }
  }
}

function checkSchema(key: string, value: string): void {
  try {
    if (jsonObject.parse(JSON.parse(value))["type"] === "object") return;
  } catch {
    // One message serves both.
  }
  throw invalid(`metadata.${key}: expected a JSON Schema whose root has "type": "object"`);
}

interface ResolvedAgent {
  agent: Session["agent"];
  /** The vaults of all its sessions. */
  vaults: string[];
}

async function resolveAgent(params: SessionCreateParams["agent"], agents: AgentCatalogue): Promise<ResolvedAgent> {
  const { id, version } = typeof params === "string" ? { id: params, version: undefined } : params;
  const agent = await agents.get(id, version);
  if (agent.archived_at) throw invalid(`agent: the agent ${id} is archived`);
  const vaults = (agent.metadata[AGENT_METADATA.vaults] ?? "").split(",").flatMap((each) => each.trim() || []);
  if (typeof params === "string" || params.type === "agent") return { agent: await withRoster(agent, agents), vaults };
  const overridden = await agents.resolve(
    {
      model: params.model ?? agent.model,
      system: params.system === undefined ? agent.system : params.system,
      description: agent.description,
      tools: params.tools ?? agent.tools,
      mcp_servers: params.mcp_servers ? restorePasswords(params.mcp_servers, agent.mcp_servers) : agent.mcp_servers,
      skills: params.skills ?? agent.skills,
      multiagent: agent.multiagent,
    },
    agent,
  );
  return { agent: await withRoster({ ...agent, ...overridden }, agents), vaults };
}

/** A snapshot of the agent; later changes of the agent and of its skills do not affect the session. */
async function withRoster(agent: Agent, agents: AgentCatalogue): Promise<Session["agent"]> {
  const snapshot = await snapshotWithRoster(agent, agents);
  checkSkillCount([snapshot, ...rosterOf(snapshot)]);
  return snapshot;
}

async function snapshotWithRoster(agent: Agent, agents: AgentCatalogue): Promise<Session["agent"]> {
  const { multiagent } = agent;
  const asThreadAgent = async (each: Agent): Promise<ThreadAgent> =>
    threadAgent(each, await pinSkills(each.skills, agents.skills));
  const resolve = (roster: readonly { id: string; version: number }[]): Promise<ThreadAgent[]> =>
    Promise.all(
      roster.map(async ({ id, version }) =>
        id === agent.id ? asThreadAgent(agent) : asThreadAgent(await agents.get(id, version)),
      ),
    );
  const snapshot = await asThreadAgent(agent);
  if (!multiagent) return { ...snapshot, multiagent: null };
  if (multiagent.type === "coordinator") {
    return { ...snapshot, multiagent: { type: "coordinator", agents: await resolve(multiagent.agents) } };
  }
  const { subagents, workflows } = multiagent;
  const snapshotOf = async (spawning: typeof subagents) =>
    spawning.type === "enabled"
      ? { ...spawning, predefined_agents: await resolve(spawning.predefined_agents) }
      : spawning;
  return {
    ...snapshot,
    multiagent: { ...multiagent, subagents: await snapshotOf(subagents), workflows: await snapshotOf(workflows) },
  };
}

const threadAgent = (agent: Agent, skills: ThreadAgent["skills"]): ThreadAgent => ({
  type: "agent",
  id: agent.id,
  version: agent.version,
  name: agent.name,
  description: agent.description,
  model: agent.model,
  system: agent.system,
  tools: agent.tools,
  mcp_servers: agent.mcp_servers,
  skills,
  execution_identity: agent.execution_identity,
});

async function checkResources(
  resources: NonNullable<SessionCreateParams["resources"]>,
  files: FileStore,
): Promise<SessionDraft["resources"]> {
  return Promise.all(
    resources.map(async (resource, index) => {
      if (resource.type === "file" && !(await files.get(resource.file_id))) {
        throw invalid(`resources[${index}].file_id: there is no file ${resource.file_id}`);
      }
      return resource;
    }),
  );
}

const invalid = (message: string): RequestError => new RequestError("invalid_request", `${message}.`);
