import {
  RequestError,
  type Announcement,
  type DeploymentRunError,
  type SessionCreateParams,
  type SessionId,
  type Clock,
  PAUSING_ERRORS,
  TandemError,
} from "@tandem/protocol";
import type { FileStore, SessionStore } from "@tandem/storage";
import type { AgentCatalogue } from "../resources/agents.ts";
import { untilWritten } from "../host/until-written.ts";
import type { DeploymentRecords } from "./deployment-records.ts";
import { LATE_MS } from "./due-times.ts";
import type { RunOfDeployment } from "../resources/sessions.ts";
import type { ResourceTokens } from "./resource-tokens.ts";
import { CLAIM_MS, claimEnd, missedError } from "./run-records.ts";
import { checkReferences, sessionOfRun } from "./session-of-run.ts";
import type { SettledRun, StartingRun, StoredDeployment } from "./stored-deployment.ts";

const MAX_ATTEMPTS = 10;

interface RunStarterDependencies {
  records: DeploymentRecords;
  sessions: {
    createForRun(params: SessionCreateParams, run: RunOfDeployment): Promise<void>;
    /** Removes the folder that an interrupted creation left. */
    discardFolder(id: SessionId): Promise<void>;
  };
  store: { sessions: Pick<SessionStore, "get">; files: Pick<FileStore, "get"> };
  agents: Pick<AgentCatalogue, "get">;
  tokens: Pick<ResourceTokens, "open">;
  clock: Clock;
}

type Outcome = { session: string } | { error: DeploymentRunError; isMissed?: boolean };

/**
 * Creates the sessions of stored runs. The run holds the session's id before the session exists: after a crash, this process or
 * another one resumes the run with the same id, so that no run has two sessions.
 */
export class RunStarter {
  readonly #dependencies: RunStarterDependencies;
  /** Runs that this process is starting. */
  readonly #active = new Map<string, Promise<SettledRun>>();

  constructor(dependencies: RunStarterDependencies) {
    this.#dependencies = dependencies;
  }

  /** Creates the session and settles the run. Rejects with `unavailable` if the run is left for a retry. */
  start(run: StartingRun): Promise<SettledRun> {
    const found = this.#active.get(run.id);
    if (found) return found;
    const stopRenewing = this.#dependencies.clock.every(CLAIM_MS / 3, () => void this.#renew(run.id));
    const started = this.#create(run)
      .then((outcome) => this.#settle(run, outcome))
      .finally(() => {
        stopRenewing();
        this.#active.delete(run.id);
      });
    this.#active.set(run.id, started);
    return started;
  }

  /** Takes over a run whose process has died. */
  async resume(id: string): Promise<void> {
    const { records, clock } = this.#dependencies;
    if (this.#active.has(id)) return;
    const taken = await untilWritten(async () => {
      const found = await records.run(id);
      if (found?.value.state !== "starting" || Date.parse(found.value.retryAt) > clock.now()) return undefined;
      const next: StartingRun = { ...found.value, attempts: found.value.attempts + 1, retryAt: claimEnd(clock) };
      await records.write(records.changeRun(next, found.version));
      return next;
    });
    if (taken) await this.start(taken);
  }

  async stop(): Promise<void> {
    await Promise.allSettled(this.#active.values());
  }

  async #renew(id: string): Promise<void> {
    const { records, clock } = this.#dependencies;
    const found = await records.run(id).catch(() => undefined);
    if (found?.value.state !== "starting") return;
    const next = { ...found.value, retryAt: claimEnd(clock) };
    // Without the renewal, another process takes over; the session's id stays the same.
    await records.write(records.changeRun(next, found.version)).catch(() => undefined);
  }

  async #create(run: StartingRun): Promise<Outcome> {
    const { records, sessions, store, agents, tokens } = this.#dependencies;
    const { by, session: id, deployment, attempts } = run;
    try {
      const stored = (await records.get(deployment)).value;
      if (attempts > 1) {
        const outcome = await this.#afterCrash(run, stored);
        if (outcome) return outcome;
      } else if (run.cause && stored.archivedAt !== null) {
        // The run of a delivery waits for a process that can start it.
        return ARCHIVED;
      }
      const definition = { ...stored, agent: run.agent, resources: await tokens.open(stored) };
      await checkReferences(definition, { agents, files: store.files });
      await sessions.createForRun(sessionOfRun(definition, run.cause), { by, id, deployment });
      return { session: id };
    } catch (error) {
      const why = runErrorOf(error);
      if (why) return { error: why };
      throw error;
    }
  }

  /** Decides about a run that was interrupted before; undefined if its session has to be created. */
  async #afterCrash(run: StartingRun, stored: StoredDeployment): Promise<Outcome | undefined> {
    const { store, sessions, clock } = this.#dependencies;
    if (await store.sessions.get(run.session)) return { session: run.session };
    if (stored.archivedAt !== null) return ARCHIVED;
    if (run.scheduledAt !== null && stored.paused) {
      return rejected("The deployment was paused before the session was created.");
    }
    if (clock.now() - Date.parse(run.scheduledAt ?? run.createdAt) >= LATE_MS) {
      return { error: missedError("downtime"), isMissed: true };
    }
    if (run.attempts > MAX_ATTEMPTS) {
      const message = `The session could not be created in ${MAX_ATTEMPTS} attempts.`;
      return { error: { type: "unknown_error", message } };
    }
    await sessions.discardFolder(run.session);
    return undefined;
  }

  async #settle({ id }: StartingRun, outcome: Outcome): Promise<SettledRun> {
    const { records, clock } = this.#dependencies;
    return untilWritten(async () => {
      const found = await records.run(id);
      if (!found) throw new RequestError("not_found", `There is no run ${id}.`);
      const before = found.value;
      if (before.state !== "starting") return before;
      const settled = settledRun(before, outcome);
      const deployment = before.scheduledAt === null ? undefined : await records.find(before.deployment);
      const changed = deployment && afterRun(deployment.value, settled, clock);
      const changes = [
        ...records.changeRun(settled, found.version),
        ...(deployment && changed ? records.put(changed, deployment.version, clock.now()) : []),
      ];
      const isPaused = changed?.paused && !deployment?.value.paused;
      await records.write(
        changes,
        ...(before.scheduledAt === null ? [] : [announcementOf(settled)]),
        ...(isPaused ? [{ type: "deployment.paused", id: changed.id } as const] : []),
      );
      return settled;
    });
  }
}

const rejected = (message: string): Outcome => ({ error: { type: "session_creation_rejected_error", message } });

const ARCHIVED = rejected("The deployment was archived before the session was created.");

function settledRun(run: StartingRun, outcome: Outcome): SettledRun {
  const { id, deployment, agent, scheduledAt, createdAt, trigger } = run;
  const base = { id, deployment, agent, scheduledAt, createdAt, ...(trigger && { trigger }) };
  if ("session" in outcome) return { ...base, state: "started", session: outcome.session };
  const { error, isMissed } = outcome;
  return { ...base, state: "failed", error, ...(isMissed && { missed: { reason: "downtime" } }) };
}

/** The deployment after a scheduled run; undefined if the run does not change it. */
function afterRun(deployment: StoredDeployment, run: SettledRun, clock: Clock): StoredDeployment | undefined {
  if (run.state === "started") return { ...deployment, lastRunAt: run.createdAt };
  const { type } = run.error;
  if (!isPausing(type) || deployment.paused || deployment.archivedAt !== null) return undefined;
  const updatedAt = new Date(clock.now()).toISOString();
  return { ...deployment, paused: { type: "error", error: { type } }, updatedAt };
}

const announcementOf = ({ state, id }: SettledRun): Announcement => ({
  type: state === "started" ? "deployment_run.succeeded" : "deployment_run.failed",
  id,
});

type ErrorType = DeploymentRunError["type"];

/** Errors with a more specific type than their code tells. */
const TYPES: Readonly<Record<string, ErrorType>> = {
  environment_archived: "environment_archived_error",
  environment_not_found: "environment_not_found_error",
  agent_archived: "agent_archived_error",
  file_not_found: "file_not_found_error",
  memory_store_archived: "memory_store_archived_error",
  vault_archived: "vault_archived_error",
  vault_not_found: "vault_not_found_error",
  skill_not_found: "skill_not_found_error",
  quota_reached: "session_rate_limited_error",
};

/** Why a run has no session; undefined if a retry may succeed: the database or a disk is away. */
function runErrorOf(error: unknown): DeploymentRunError | undefined {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof RequestError)) {
    return error instanceof TandemError && error.code === "storage_failed"
      ? undefined
      : { type: "unknown_error", message };
  }
  if (error.code === "unavailable") return undefined;
  const known = error.detail === undefined ? undefined : TYPES[error.detail];
  const other = error.code === "not_found" ? "session_resource_not_found_error" : "session_creation_rejected_error";
  return { type: known ?? other, message };
}

type PausingError = (typeof PAUSING_ERRORS)[number];

/** Whether the error would come again with each scheduled run. */
const isPausing = (type: ErrorType): type is PausingError => (PAUSING_ERRORS as readonly ErrorType[]).includes(type);
