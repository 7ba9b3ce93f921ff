import {
  RequestError,
  type AuditNote,
  type Environment,
  type Session,
  type SessionCreateParams,
  type SessionId,
  type Clock,
} from "@tandem/protocol";
import type { SessionRow, Store } from "@tandem/storage";
import type { SessionActors } from "../actor/session-actors.ts";
import type { Auditor } from "../audit/auditor.ts";
import type { KillSwitch } from "../budgets/kill-switch.ts";
import type { SessionCommands } from "../commands/session-commands.ts";
import { sessionView } from "../log/session-view.ts";
import type { SessionMounts } from "../mounts/session-mounts.ts";
import { checkOutcome, refuseSecondOutcome, type OutcomeCheck } from "../outcomes/check-outcome.ts";
import { checkMcpServers } from "./environment-config.ts";
import type { AgentCatalogue } from "./agents.ts";
import { readCurrent, withPending } from "./current-status.ts";
import type { EnvironmentCatalogue } from "./environments.ts";
import { inQueueOrder } from "./sent-events.ts";
import { draftSession, type SessionDraft } from "./session-draft.ts";
import type { SessionOptions } from "./session-options.ts";
import type { SessionPlaces } from "./session-places.ts";
import type { Spares } from "../spares/spares.ts";
import type { SessionVaults } from "../vaults/create-vaults.ts";
import type { RunOfDeployment, UseSessionId } from "./sessions.ts";
import type { WorkQueue } from "../work/work-queue.ts";

export interface SessionCreatorDependencies {
  store: Store;
  agents: AgentCatalogue;
  environments: EnvironmentCatalogue;
  places: SessionPlaces;
  mounts: SessionMounts;
  vaults: SessionVaults;
  actors: SessionActors;
  audit: Auditor;
  commands: SessionCommands;
  queries: OutcomeCheck["queries"];
  killSwitch: KillSwitch;
  options: SessionOptions;
  work: Pick<WorkQueue, "check" | "request">;
  /** Processes that were started for sessions to come. */
  spares?: Pick<Spares, "reserve" | "giveBack">;
  clock: Clock;
  changed: (id: SessionId) => void;
  /** See `ProcessSettings`. */
  prepare: (() => void) | undefined;
}

/** Creates sessions: their folder, mounts, row and first input. Removes the folder and the mounts if a step fails. */
export class SessionCreator {
  readonly #dependencies: SessionCreatorDependencies;

  constructor(dependencies: SessionCreatorDependencies) {
    this.#dependencies = dependencies;
  }

  async create(params: SessionCreateParams, by?: string, id?: SessionId, useId?: UseSessionId): Promise<Session> {
    const { spares } = this.#dependencies;
    const { draft, environment } = await this.#prepare(params, by, id);
    const canReserve = (id === undefined || useId) && environment.config.type !== "self_hosted";
    const reserved = canReserve && draft.resources.length === 0 ? spares?.reserve(draft.row) : undefined;
    if (!reserved) return this.#place(draft, environment, by);
    const { scratch, ...ids } = reserved;
    try {
      if (useId && !(await useId(ids.id)))
        throw new RequestError("unavailable", "The request was taken over by a retry.");
      return await this.#place({ ...draft, row: { ...draft.row, ...ids } }, environment, by, undefined, scratch);
    } catch (error) {
      await spares?.giveBack(ids.id);
      throw error;
    }
  }

  async createAgain(params: SessionCreateParams, by: string, id: SessionId): Promise<Session> {
    if (await this.#dependencies.store.sessions.get(id)) return this.#get(id);
    await this.#dependencies.spares?.giveBack(id);
    await this.discardFolder(id);
    return this.#createAs(id, params, by);
  }

  /** Creates the session of a deployment's run. Idempotent, because the run has chosen the id: a retry finds the session. */
  async createForRun(params: SessionCreateParams, { by, id, deployment }: RunOfDeployment): Promise<void> {
    if (!(await this.#dependencies.store.sessions.get(id))) await this.#createAs(id, params, by, deployment);
  }

  /** Removes what an interrupted creation left: its folder, and tokens of repositories. */
  async discardFolder(id: SessionId): Promise<void> {
    await this.#dependencies.mounts.undo({ id, folder: "" }, []);
    await this.#dependencies.places.discard(id);
  }

  async check(params: SessionCreateParams): Promise<void> {
    const environment = await this.#dependencies.environments.open(params.environment_id);
    const draft = await this.#draft(params, environment);
    if (environment.config.type === "self_hosted") await this.#checkSelfHosted(draft);
  }

  /** A worker has none of the server's secrets, and no proxy that would put them into its requests. */
  async #checkSelfHosted(draft: SessionDraft): Promise<void> {
    this.#dependencies.work.check(draft.resources);
    if (!(await this.#dependencies.vaults.hasVariables(draft.row.vaultIds ?? []))) return;
    throw new RequestError(
      "invalid_request",
      "vault_ids: a self-hosted environment cannot use environment_variable credentials.",
      { fix: "Set the variables on the worker's machine, and leave out the vault." },
    );
  }

  async #draft(
    params: SessionCreateParams,
    { config }: Awaited<ReturnType<EnvironmentCatalogue["open"]>>,
    by?: string,
    id?: SessionId,
  ): Promise<SessionDraft> {
    const { agents, store, vaults, clock } = this.#dependencies;
    const draft = await draftSession(await this.#checked(params), agents, store.files, clock, by, id);
    await vaults.check(draft.row.vaultIds ?? [], { isSelfHosted: config.type === "self_hosted" });
    return draft;
  }

  async #createAs(id: SessionId, params: SessionCreateParams, by: string, deployment?: string): Promise<Session> {
    const { draft, environment } = await this.#prepare(params, by, id);
    return this.#place(draft, environment, by, deployment);
  }

  /** Checks the request. Creates nothing. */
  async #prepare(params: SessionCreateParams, by?: string, id?: SessionId) {
    if (params.initial_events?.length) await this.#dependencies.killSwitch.refuse();
    const environment = await this.#dependencies.environments.open(params.environment_id);
    const draft = await this.#draft(params, environment, by, id);
    checkMcpServers(environment, draft.row.agent.mcp_servers);
    if (environment.config.type === "self_hosted") await this.#checkSelfHosted(draft);
    return { draft, environment };
  }

  async #place(
    draft: SessionDraft,
    environment: Environment,
    by: string | undefined,
    deployment?: string,
    prepared?: string,
  ): Promise<Session> {
    const { places } = this.#dependencies;
    const selfHosted = environment.config.type === "self_hosted";
    const folder = prepared ?? (await places.prepare(environment, draft.row.id, draft.row.metadata));
    let row: SessionRow = {
      ...draft.row,
      ...(deployment !== undefined && { deploymentId: deployment }),
      ...(selfHosted && { selfHosted }),
      folder,
      place: this.#dependencies.places.placeOf(environment),
      resources: [],
    };
    try {
      row = { ...row, resources: await this.#dependencies.mounts.mount(row, draft.resources) };
      const checked = draft.input.map(async (event, index) => {
        if (event.type === "user.message") return this.#dependencies.commands.check(row, event);
        if (event.type !== "user.define_outcome") return event;
        const { files } = this.#dependencies.store;
        return checkOutcome(row, event, `initial_events[${index}]`, { ...this.#dependencies, files });
      });
      await this.#dependencies.store.sessions.create(row, inQueueOrder(await Promise.all(checked)));
    } catch (error) {
      // A concurrent creation with the same id has won; the folder is its own.
      if (deployment !== undefined && (await this.#dependencies.store.sessions.get(row.id))) return this.#get(row.id);
      await this.#dependencies.mounts.undo(row, row.resources);
      await this.#dependencies.places.remove(row);
      throw error;
    }
    await this.#dependencies.audit.note(begun(row, by));
    this.#dependencies.changed(row.id);
    if (!selfHosted) this.#dependencies.prepare?.();
    if (draft.input.length > 0) await this.#dependencies.work.request(row);
    if (draft.input.length > 0) this.#dependencies.actors.wake(row.id);
    return sessionView(
      withPending(draft.input.length > 0 ? { ...row, status: "running" } : row, draft.input),
      this.#dependencies.clock,
    );
  }

  async #checked(params: SessionCreateParams): Promise<SessionCreateParams> {
    const { metadata, initial_events: events } = params;
    refuseSecondOutcome(events ?? [], "initial_events");
    return {
      ...params,
      ...(metadata && { metadata: await this.#dependencies.options.metadata(metadata) }),
      ...(events && {
        initial_events: await Promise.all(
          events.map(async (event, index) =>
            event.type === "user.message"
              ? this.#dependencies.options.message(event, `initial_events[${index}]`)
              : event,
          ),
        ),
      }),
    };
  }

  async #get(id: SessionId): Promise<Session> {
    return sessionView(await readCurrent(this.#dependencies, id), this.#dependencies.clock);
  }
}

const begun = (row: SessionRow, by = "unknown"): AuditNote => ({
  kind: "session.created",
  actor: by,
  session: row.id,
  details: {
    title: row.title,
    agent: { id: row.agent.id, version: row.agent.version, model: row.agent.model.id },
    folder: row.folder,
    environment: row.environmentId,
    budget: row.budget,
    metadata: row.metadata,
  },
});
