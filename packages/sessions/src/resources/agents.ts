import {
  newId,
  RequestError,
  type Agent,
  type AgentCreateParams,
  type AgentId,
  type AgentUpdateParams,
  type McpServer,
  type Multiagent,
  type Tool,
  type ToolParams,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import type { AgentStore, Page, PageQuery } from "@tandem/storage";
import { resolveTools, type ToolsetDefault } from "@tandem/policy";
import { restorePasswords } from "../mcp/server-passwords.ts";
import { resolveAgentSkills, type SkillReader } from "../skills/agent-skills.ts";
import { mergeMultiagent } from "./merge-multiagent.ts";
import { resolveModel, type Model } from "../process/turn-options.ts";
import { mergeMetadata } from "../host/merge-metadata.ts";

type RosterEntry = Extract<NonNullable<AgentCreateParams["multiagent"]>, { type: "coordinator" }>["agents"][number];
type Spawning = Extract<Multiagent, { type: "multiagent_20261001" }>["subagents"];
type Definition = Pick<
  AgentCreateParams,
  "model" | "system" | "description" | "tools" | "mcp_servers" | "skills" | "multiagent" | "execution_identity"
>;

export interface AgentSettings {
  /** The policy of agent toolsets that state none. Default: `ask_for_effects`. */
  toolsetDefault?: ToolsetDefault;
}

export interface Agents {
  create(params: AgentCreateParams, id?: AgentId): Promise<Agent>;
  get(id: string, version?: number): Promise<Agent>;
  /** Adds a version, unless nothing changes. */
  update(id: string, params: AgentUpdateParams): Promise<Agent>;
  archive(id: string): Promise<Agent>;
  list(query: PageQuery): Promise<Page<Agent>>;
  versions(id: string, query: PageQuery): Promise<Page<Agent>>;
}

interface CatalogueParts extends AgentSettings {
  store: AgentStore;
  models: () => Promise<Model[]>;
  skills: SkillReader;
  clock: Clock;
}

/** Agents and their versions. All clients' definitions are validated here. */
export class AgentCatalogue implements Agents {
  readonly #store: AgentStore;
  readonly #models: () => Promise<Model[]>;
  readonly #clock: Clock;
  readonly #toolsetDefault: ToolsetDefault | undefined;
  readonly skills: SkillReader;

  constructor({ store, models, skills, clock, toolsetDefault }: CatalogueParts) {
    this.#store = store;
    this.#models = models;
    this.skills = skills;
    this.#clock = clock;
    this.#toolsetDefault = toolsetDefault;
  }

  async create(params: AgentCreateParams, id: AgentId = newId("agent")): Promise<Agent> {
    const at = isoNow(this.#clock);
    restorePasswords(params.mcp_servers ?? [], []);
    const agent: Agent = {
      type: "agent",
      id,
      version: 1,
      name: params.name,
      ...(await this.resolve(params, { id, version: 1 })),
      metadata: params.metadata ?? {},
      created_at: at,
      updated_at: at,
      archived_at: null,
    };
    await this.#store.create(agent);
    return agent;
  }

  async get(id: string, version?: number): Promise<Agent> {
    const agent = await this.#store.get(id, version);
    if (agent) return agent;
    const which = version === undefined ? "" : ` of version ${version}`;
    throw new RequestError("not_found", `There is no agent ${id}${which}.`);
  }

  async update(id: string, params: AgentUpdateParams): Promise<Agent> {
    const current = await this.get(id);
    if (current.archived_at) throw new RequestError("invalid_request", `The agent ${id} is archived.`);
    if (params.version !== undefined && params.version !== current.version) {
      throw new RequestError(
        "conflict",
        `The agent ${id} is at version ${current.version}, not ${params.version}: it changed in the meantime.`,
        { fix: "Retrieve it again and repeat the change." },
      );
    }
    const next = await this.resolve(
      {
        model: keepEffort(params.model, current.model),
        system: params.system === undefined ? current.system : params.system,
        description: params.description === undefined ? current.description : params.description,
        tools: params.tools === undefined ? current.tools : (params.tools ?? []),
        mcp_servers:
          params.mcp_servers === undefined
            ? current.mcp_servers
            : restorePasswords(params.mcp_servers ?? [], current.mcp_servers),
        skills: params.skills === undefined ? current.skills : (params.skills ?? []),
        multiagent: mergeMultiagent(current.multiagent, params.multiagent),
        execution_identity: params.execution_identity,
      },
      { id, version: current.version + 1, skills: current.skills },
    );
    const candidate = {
      ...current,
      name: params.name ?? current.name,
      ...next,
      metadata: mergeMetadata(current.metadata, params.metadata),
    };
    if (JSON.stringify(candidate) === JSON.stringify(current)) return current;
    const agent = { ...candidate, version: current.version + 1, updated_at: isoNow(this.#clock) };
    await this.#store.addVersion(agent);
    return agent;
  }

  async archive(id: string): Promise<Agent> {
    const agent = await this.get(id);
    if (agent.archived_at) return agent;
    const at = isoNow(this.#clock);
    await this.#store.archive(agent.id as AgentId, at);
    return { ...agent, archived_at: at };
  }

  list(query: PageQuery): Promise<Page<Agent>> {
    return this.#store.list(query);
  }

  async versions(id: string, query: PageQuery): Promise<Page<Agent>> {
    const agent = await this.get(id);
    return this.#store.versions(agent.id as AgentId, query);
  }

  /** Fills in the defaults of tools. */
  resolveTools(params: readonly ToolParams[], servers: readonly McpServer[]): Tool[] {
    return resolveTools(params, servers, this.#toolsetDefault);
  }

  /** Fills in and validates defaults, aliases and references of a definition. */
  async resolve(params: Definition, self: { id: string; version: number; skills?: Agent["skills"] }) {
    const identity = params.execution_identity?.type ?? "service_account";
    if (identity !== "service_account") throw notSupported("execution_identity", `"${identity}" is not supported`);
    const servers = params.mcp_servers ?? [];
    for (const [index, server] of servers.entries()) checkServer(server, index, servers);
    const tools = this.resolveTools(params.tools ?? [], servers);
    const { skills: kept = [] } = self;
    return {
      description: params.description ?? null,
      model: await this.#resolveModel(params.model),
      system: params.system ?? null,
      tools,
      mcp_servers: servers,
      skills: await resolveAgentSkills(params.skills ?? [], { tools, kept, reader: this.skills }),
      execution_identity: { type: "service_account" as const },
      multiagent: params.multiagent ? await this.#resolveMultiagent(params.multiagent, self) : null,
    };
  }

  async #resolveModel(params: Definition["model"]): Promise<Agent["model"]> {
    const model: Extract<typeof params, object> = typeof params === "string" ? { id: params } : params;
    const { id, effort, speed, inference_geo: geo } = model;
    if (geo) throw notSupported("model.inference_geo", "the account decides where its requests run");
    if (speed === "fast") {
      throw notSupported("model.speed", "fast mode costs more than the list price, which budgets could not count");
    }
    const known = resolveModel(id, await this.#models(), "model");
    const level = typeof effort === "string" ? effort : effort?.type;
    return { id: known, ...(level && { effort: { type: level } }) };
  }

  async #resolveMultiagent(
    params: NonNullable<AgentCreateParams["multiagent"]>,
    self: { id: string; version: number },
  ): Promise<Multiagent> {
    const roster = async (entries: readonly RosterEntry[]) => {
      const agents = await Promise.all(entries.map((entry) => this.#resolveEntry(entry, self)));
      const twice = agents.find(({ id }, index) => agents.findIndex((other) => other.id === id) !== index);
      if (twice) throw new RequestError("invalid_request", `multiagent: the agent ${twice.id} is there twice.`);
      return agents;
    };
    if (params.type === "coordinator") return { type: params.type, agents: await roster(params.agents) };
    if (params.advisor?.type === "enabled") {
      throw notSupported("multiagent.advisor", "Claude Code has no advisor");
    }
    const resolve = async (name: "subagents" | "workflows"): Promise<Spawning> => {
      const spawning = params[name] ?? { type: "enabled" };
      if (spawning.type === "disabled") return { type: "disabled" };
      const inline = spawning.inline_agents?.type ?? "enabled";
      const agents = spawning.predefined_agents ?? [];
      if (inline === "disabled" && agents.length === 0) {
        const message = `multiagent.${name}: predefined_agents needs an agent where inline_agents is disabled.`;
        throw new RequestError("invalid_request", message);
      }
      return { type: "enabled", inline_agents: { type: inline }, predefined_agents: await roster(agents) };
    };
    return {
      type: params.type,
      advisor: { type: "disabled" },
      subagents: await resolve("subagents"),
      workflows: await resolve("workflows"),
    };
  }

  async #resolveEntry(entry: RosterEntry, self: { id: string; version: number }) {
    const own = { type: "agent" as const, id: self.id, version: self.version };
    if (typeof entry !== "string" && entry.type === "self") return own;
    const { id, version } = typeof entry === "string" ? { id: entry, version: undefined } : entry;
    if (id === self.id) return own;
    const agent = await this.#store.get(id, version);
    if (!agent || agent.archived_at) {
      throw new RequestError("invalid_request", `multiagent: there is no agent ${id} to call.`);
    }
    if (agent.multiagent) {
      throw new RequestError("invalid_request", `multiagent: the agent ${id} calls other agents itself.`, {
        fix: "List agents without multiagent: subagents have none of their own.",
      });
    }
    return { type: "agent" as const, id: agent.id, version: agent.version };
  }
}

/** An update replaces the model whole, but for an effort that it leaves out. */
function keepEffort(update: AgentUpdateParams["model"], current: Agent["model"]): AgentCreateParams["model"] {
  if (update === undefined) return current;
  const wanted = typeof update === "string" ? { id: update } : update;
  return { effort: current.effort, ...wanted };
}

function checkServer(server: { name: string; url: string }, index: number, all: readonly { name: string }[]): void {
  const place = `mcp_servers[${index}]`;
  if (all.findIndex(({ name }) => name === server.name) !== index) {
    throw new RequestError("invalid_request", `${place}.name: "${server.name}" is there twice.`);
  }
  if (RESERVED_SERVERS.has(server.name)) {
    throw new RequestError("invalid_request", `${place}.name: "${server.name}" is a name of Tandem's own.`);
  }
  if (/^tandem:[a-z][a-z0-9_-]{0,39}$/.test(server.url)) return;
  if (!/^https?:\/\//.test(server.url) || !URL.canParse(server.url)) {
    const expected = "a URL that begins with https:// or http://, or tandem:NAME for a server of tandem.yaml";
    throw new RequestError("invalid_request", `${place}.url: expected ${expected}.`);
  }
}

/** Server names that Tandem or Claude Code uses itself. */
const RESERVED_SERVERS = new Set(["tandem", "custom", "ide"]);

const notSupported = (field: string, why: string): RequestError =>
  new RequestError("invalid_request", `${field}: ${why}.`);
