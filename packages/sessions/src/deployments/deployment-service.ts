import {
  isTimeZone,
  agentMetadata,
  newId,
  parseCron,
  RequestError,
  type Agent,
  type AuditNote,
  type Deployment,
  type DeploymentCreateParams,
  type DeploymentRun,
  type DeploymentRunId,
  type DeploymentUpdateParams,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import type { Page, PageQuery, RecordChange } from "@tandem/storage";
import { mergeMetadata } from "../host/merge-metadata.ts";
import type { AgentCatalogue } from "../resources/agents.ts";
import { checkMetadata } from "../resources/session-draft.ts";
import type { Sessions } from "../resources/sessions.ts";
import { untilWritten } from "../host/until-written.ts";
import type { DeploymentRecords } from "./deployment-records.ts";
import { deploymentView, runView } from "./deployment-view.ts";
import { readFiltered } from "../host/read-filtered.ts";
import type { ResourceTokens } from "./resource-tokens.ts";
import { newRun } from "./run-records.ts";
import type { RunStarter } from "./run-starter.ts";
import { sessionOfRun } from "./session-of-run.ts";
import type { RunCause } from "../triggers/run-cause.ts";
import type { SettledRun, StoredDeployment } from "./stored-deployment.ts";

/** Anthropic's limit for an organisation. */
const MAX_SCHEDULES = 1_000;
const MAX_PAGE = 100_000;

type DeploymentQuery = PageQuery & { agentId?: string | undefined; status?: "active" | "paused" | undefined };

type RunQuery = PageQuery & {
  deploymentId?: string | undefined;
  hasError?: boolean | undefined;
  trigger?: "schedule" | "manual" | undefined;
};

interface DeploymentServiceDependencies {
  records: DeploymentRecords;
  agents: Pick<AgentCatalogue, "get">;
  sessions: Pick<Sessions, "check">;
  starter: RunStarter;
  tokens: ResourceTokens;
  /** Throws if everything is stopped. */
  refuseIfStopped: () => Promise<void>;
  /** Looks at the schedules again. */
  reschedule: () => void;
  note: (note: AuditNote) => Promise<void>;
  /** The mode of sessions that name none. */
  permissionMode: string;
  clock: Clock;
}

type Event = `deployment.${"created" | "updated" | "paused" | "unpaused" | "archived"}`;

/** Agents that run by themselves, at scheduled times and on request: the operations of clients. */
export class DeploymentService {
  readonly #dependencies: DeploymentServiceDependencies;
  readonly runs: {
    get(id: string): Promise<DeploymentRun>;
    list(query: RunQuery): Promise<Page<DeploymentRun>>;
  };

  constructor(dependencies: DeploymentServiceDependencies) {
    this.#dependencies = dependencies;
    this.runs = { get: (id) => this.#run(id), list: (query) => this.#listRuns(query) };
  }

  /** Here and below, `by` is the caller's name for the audit. */
  async create(params: DeploymentCreateParams, by?: string, id = newId("deployment")): Promise<Deployment> {
    const { records, tokens, clock } = this.#dependencies;
    const at = isoNow(clock);
    const stored: StoredDeployment = {
      id,
      name: params.name,
      description: params.description || null,
      agent: await this.#pin(params.agent),
      environmentId: params.environment_id,
      initialEvents: params.initial_events,
      ...(await tokens.seal(id, params.resources ?? [])),
      vaultIds: params.vault_ids ?? [],
      budget: params.budget ?? null,
      metadata: params.metadata ?? {},
      schedule: scheduleFrom(params.schedule),
      paused: null,
      handledTo: at,
      lastRunAt: null,
      createdAt: at,
      updatedAt: at,
      archivedAt: null,
    };
    await this.#check(stored);
    if (stored.schedule) await this.#checkCount();
    await untilWritten(() => records.write(records.put(stored, 0, clock.now()), { type: "deployment.created", id }));
    return this.#changed(stored, "deployment.created", by);
  }

  async get(id: string): Promise<Deployment> {
    return this.#view((await this.#dependencies.records.get(id)).value);
  }

  async update(id: string, params: DeploymentUpdateParams, by?: string): Promise<Deployment> {
    const agent = params.agent === undefined ? undefined : await this.#pin(params.agent);
    const schedule = params.schedule === undefined ? undefined : scheduleFrom(params.schedule);
    const { value: before } = await this.#dependencies.records.get(id);
    if (schedule && !before.schedule) await this.#checkCount();
    const stored = await this.#change(id, "deployment.updated", async (current, at) => {
      const next: StoredDeployment = {
        ...current,
        name: params.name ?? current.name,
        description: params.description === undefined ? current.description : params.description || null,
        agent: agent ?? current.agent,
        environmentId: params.environment_id ?? current.environmentId,
        initialEvents: params.initial_events ?? current.initialEvents,
        ...(params.resources !== undefined && (await this.#dependencies.tokens.seal(id, params.resources ?? []))),
        vaultIds: params.vault_ids === undefined ? current.vaultIds : (params.vault_ids ?? []),
        budget: params.budget === undefined ? current.budget : params.budget,
        metadata: params.metadata ? mergeMetadata(current.metadata, params.metadata) : current.metadata,
        // A changed schedule counts from now on; times before that are not due.
        ...(schedule !== undefined && { schedule, handledTo: at }),
      };
      await this.#check(next);
      return next;
    });
    return this.#changed(stored, "deployment.updated", by);
  }

  async archive(id: string, by?: string): Promise<Deployment> {
    const { value } = await this.#dependencies.records.get(id);
    if (value.archivedAt !== null) return this.#view(value);
    const stored = await this.#change(id, "deployment.archived", async (current, at) => ({
      ...current,
      archivedAt: at,
    }));
    return this.#changed(stored, "deployment.archived", by);
  }

  /** Archives the deployments of an agent that was archived. */
  async archiveOf(agentId: string): Promise<void> {
    for (const { id } of (await this.list({ limit: MAX_PAGE, agentId })).data) await this.archive(id);
  }

  async pause(id: string, by?: string): Promise<Deployment> {
    const { value } = await this.#dependencies.records.get(id);
    if (value.paused && value.archivedAt === null) return this.#view(value);
    const stored = await this.#change(id, "deployment.paused", async (current) => ({
      ...current,
      paused: { type: "manual" },
    }));
    return this.#changed(stored, "deployment.paused", by);
  }

  /** The schedule continues with its next time; times that passed meanwhile are not made up for. */
  async unpause(id: string, by?: string): Promise<Deployment> {
    const { value } = await this.#dependencies.records.get(id);
    if (!value.paused && value.archivedAt === null) return this.#view(value);
    const stored = await this.#change(id, "deployment.unpaused", async (current, at) => ({
      ...current,
      paused: null,
      handledTo: at,
    }));
    return this.#changed(stored, "deployment.unpaused", by);
  }

  /** Starts a session now, also if the deployment is paused. With the same `run`, it starts only one. */
  async run(id: string, by = "unknown", runId: DeploymentRunId = newId("deploymentRun")): Promise<DeploymentRun> {
    const { records, starter, refuseIfStopped, note, clock } = this.#dependencies;
    const { value: deployment } = await records.get(id);
    if (deployment.archivedAt !== null) throw archived(id);
    const known = await records.run(runId);
    if (!known) await refuseIfStopped();
    const run = await untilWritten(async () => {
      const found = await records.run(runId);
      if (found) return found.value;
      const made = newRun(deployment, { time: null, id: runId, by }, clock);
      await records.write(records.addRun(made));
      return made;
    });
    if (!known) await note({ kind: "deployment.run", actor: by, details: { deployment: id, run: runId } });
    return runView(run.state === "starting" ? await starter.start(run) : run);
  }

  /** Stores a run together with other changes. The scheduler starts it, here or in another process of the fleet. */
  async enqueue(
    deployment: StoredDeployment,
    {
      by,
      run: id,
      cause,
      changes,
    }: { by: string; run: DeploymentRunId; cause: RunCause; changes: readonly RecordChange[] },
  ): Promise<void> {
    const { records, refuseIfStopped, reschedule, note, clock } = this.#dependencies;
    await refuseIfStopped();
    const { trigger, event } = cause;
    const made = newRun(deployment, { time: null, id, by }, clock);
    const waiting = { ...made, cause, trigger: { trigger, event }, attempts: 0, retryAt: isoNow(clock) };
    await records.write([...changes, ...records.addRun(waiting)]);
    reschedule();
    await note({ kind: "deployment.run", actor: by, details: { deployment: deployment.id, run: id, trigger } });
  }

  list({ agentId, status, includeArchived, ...query }: DeploymentQuery): Promise<Page<Deployment>> {
    if (status !== undefined && includeArchived) {
      throw new RequestError("invalid_request", "status and include_archived cannot be combined.", {
        fix: "Leave one of them out.",
      });
    }
    const agents = new Map<string, Promise<Agent | undefined>>();
    return readFiltered(query, {
      read: (range) => this.#dependencies.records.list(range),
      isWanted: ({ archivedAt, agent, paused }) =>
        (includeArchived || archivedAt === null) &&
        (agentId === undefined || agent.id === agentId) &&
        (status === undefined || status === (paused ? "paused" : "active")),
      view: (stored) => this.#view(stored, agents),
    });
  }

  #listRuns({ deploymentId: deployment, hasError, trigger, ...query }: RunQuery): Promise<Page<DeploymentRun>> {
    return readFiltered(query, {
      read: (range) => this.#dependencies.records.runs({ ...range, deployment }),
      // A run becomes visible when its session has been created, or could not be.
      isWanted: (run): run is SettledRun =>
        run.state !== "starting" &&
        (hasError === undefined || hasError === (run.state === "failed")) &&
        (trigger === undefined || trigger === (run.scheduledAt === null ? "manual" : "schedule")),
      view: async (run) => runView(run),
    });
  }

  async #run(id: string): Promise<DeploymentRun> {
    const found = await this.#dependencies.records.run(id);
    if (found && found.value.state !== "starting") return runView(found.value);
    throw new RequestError("not_found", `There is no deployment run ${id}.`);
  }

  #change(
    id: string,
    event: Event,
    change: (current: StoredDeployment, at: string) => Promise<StoredDeployment>,
  ): Promise<StoredDeployment> {
    const { records, clock } = this.#dependencies;
    return untilWritten(async () => {
      const { value, version } = await records.get(id);
      if (value.archivedAt !== null) throw archived(id);
      const at = isoNow(clock);
      const next = { ...(await change(value, at)), updatedAt: at };
      await records.write(records.put(next, version, clock.now()), { type: event, id });
      return next;
    });
  }

  async #changed(stored: StoredDeployment, event: Event, by = "unknown"): Promise<Deployment> {
    const { note, reschedule } = this.#dependencies;
    reschedule();
    await note({
      kind: event,
      actor: by,
      details: { deployment: stored.id, name: stored.name, schedule: stored.schedule },
    });
    return this.#view(stored);
  }

  async #view(stored: StoredDeployment, agents = new Map<string, Promise<Agent | undefined>>()): Promise<Deployment> {
    const { clock, permissionMode } = this.#dependencies;
    const { id, version } = stored.agent;
    const key = `${id} ${version}`;
    const agent = agents.get(key) ?? this.#dependencies.agents.get(id, version).catch(() => undefined);
    agents.set(key, agent);
    return deploymentView(stored, await agent, clock.now(), permissionMode);
  }

  /** Without a version, the latest one is pinned. */
  async #pin(agent: DeploymentCreateParams["agent"]): Promise<StoredDeployment["agent"]> {
    const { id, version } = typeof agent === "string" ? { id: agent, version: undefined } : agent;
    const found = await this.#dependencies.agents.get(id, version);
    return { id: found.id, version: found.version };
  }

  /** Refuses what a session would refuse, at the time of the request instead of at each run. */
  async #check(stored: StoredDeployment): Promise<void> {
    const parsed = agentMetadata.safeParse(stored.metadata);
    if (!parsed.success) throw invalid(`metadata: ${parsed.error.issues[0]?.message ?? "too large"}`);
    checkMetadata(stored.metadata);
    const { sessions, tokens } = this.#dependencies;
    await sessions.check(sessionOfRun({ ...stored, resources: await tokens.open(stored) }));
  }

  async #checkCount(): Promise<void> {
    if ((await this.#dependencies.records.schedules()).length < MAX_SCHEDULES) return;
    throw invalid(`schedule: there are ${MAX_SCHEDULES} scheduled deployments, the maximum; archive or pause some`);
  }
}

export type Deployments = Omit<DeploymentService, "archiveOf" | "enqueue">;

function scheduleFrom(params: DeploymentCreateParams["schedule"]): StoredDeployment["schedule"] {
  if (!params) return null;
  const { expression, timezone } = params;
  const parsed = parseCron(expression);
  if (!parsed.ok) throw invalid(`schedule.expression: ${parsed.reason}`);
  if (!isTimeZone(timezone)) {
    throw invalid(
      `schedule.timezone: there is no time zone ${JSON.stringify(timezone)}; write one such as Europe/Berlin or UTC`,
    );
  }
  return { expression, timezone };
}

const archived = (id: string): RequestError =>
  new RequestError("invalid_request", `The deployment ${id} is archived.`, { fix: "Create another one." });

const invalid = (message: string): RequestError => new RequestError("invalid_request", `${message}.`);
