import { newId, RequestError, type Announcement, isoNow, type Clock } from "@tandem/protocol";
import { haltText, type Halt } from "../budgets/kill-switch.ts";
import type { AgentCatalogue } from "../resources/agents.ts";
import { untilWritten } from "../host/until-written.ts";
import type { DeploymentRecords } from "./deployment-records.ts";
import { dueTimes, type DueTimes } from "./due-times.ts";
import { missedRun, newRun } from "./run-records.ts";
import { nextTime, type StartingRun, type StoredDeployment, type StoredRun } from "./stored-deployment.ts";

/** A scheduled run waits so long for a worker of the fleet that has the environment. */
const WORKER_MS = 60_000;

interface DueRunsDependencies {
  records: DeploymentRecords;
  agents: Pick<AgentCatalogue, "get">;
  halted: () => Promise<Halt | undefined>;
  /** Whether this process can prepare the environment's folder. */
  fits: (environmentId: string) => Promise<boolean>;
  clock: Clock;
}

/**
 * Turns the due times of deployments into stored runs. One write stores the runs and marks their times as handled, so that
 * exactly one process of a fleet does so, and no crash loses or repeats a time.
 */
export class DueRuns {
  readonly #dependencies: DueRunsDependencies;

  constructor(dependencies: DueRunsDependencies) {
    this.#dependencies = dependencies;
  }

  /** The run that this process has to start, if any; `other` if another process of the fleet may be able to. */
  claim(id: string): Promise<StartingRun | "other" | undefined> {
    return untilWritten(() => this.#claim(id));
  }

  /** Whether to start a stored run here, or to leave it to a process of the fleet that has its environment. */
  async isHere({ deployment, retryAt }: StartingRun): Promise<boolean> {
    const { records, clock, fits } = this.#dependencies;
    const found = await records.find(deployment);
    return !found || clock.now() - Date.parse(retryAt) >= WORKER_MS || (await fits(found.value.environmentId));
  }

  /** Archives the deployment if its agent is gone, and corrects its stored next time. */
  async refresh({ id, next }: { id: string; next: number }): Promise<void> {
    const { records, clock } = this.#dependencies;
    await untilWritten(async () => {
      const found = await records.find(id);
      if (!found || (await this.#archiveWithAgent(found.value, found.version))) return;
      const now = clock.now();
      if (nextTime(found.value, now) !== next) await records.write(records.put(found.value, found.version, now));
    });
  }

  async #claim(id: string): Promise<StartingRun | "other" | undefined> {
    const { records, clock, halted, fits } = this.#dependencies;
    const found = await records.find(id);
    if (!found || found.value.paused || found.value.archivedAt !== null) return undefined;
    const { value: deployment, version } = found;
    const now = clock.now();
    const due = dueTimes(deployment, now);
    if (!due) {
      // The rules of the time zone have changed: store the right time.
      await records.write(records.put(deployment, version, now));
      return undefined;
    }
    if (await this.#archiveWithAgent(deployment, version)) return undefined;
    const halt = await halted();
    const isHere = halt !== undefined || due.start === undefined || (await fits(deployment.environmentId));
    if (!isHere && now - due.last < WORKER_MS) return "other";
    const runs = await this.#runsOf(deployment, due, halt, isHere);
    const handled = { ...deployment, handledTo: new Date(due.last).toISOString() };
    const changes = [...records.put(handled, version, now), ...runs.flatMap((run) => records.addRun(run))];
    await records.write(changes, ...runs.map(announcementOf));
    return runs.find((run) => run.state === "starting");
  }

  async #archiveWithAgent(deployment: StoredDeployment, version: number): Promise<boolean> {
    const { agents, records, clock } = this.#dependencies;
    const agent = await agents.get(deployment.agent.id).catch((error: unknown) => {
      if (error instanceof RequestError && error.code === "not_found") return undefined;
      throw error;
    });
    if (agent && agent.archived_at === null) return false;
    const archived = { ...deployment, archivedAt: isoNow(clock) };
    await records.write(records.put(archived, version, clock.now()), { type: "deployment.archived", id: archived.id });
    return true;
  }

  async #runsOf(
    deployment: StoredDeployment,
    { start, missed, earlier }: DueTimes,
    halt: Halt | undefined,
    isHere: boolean,
  ): Promise<StoredRun[]> {
    const { records, clock } = this.#dependencies;
    const taken = await records.taken(deployment.id, [...missed, ...(start === undefined ? [] : [start])]);
    const now = clock.now();
    const open = missed.filter((time) => !taken.has(time));
    const runs: StoredRun[] = open.map((time, index) => {
      // Ids sort by time, so that the oldest one comes first.
      const id = newId("deploymentRun", now - open.length + index);
      const more = index === 0 && earlier > 0 ? { earlier } : {};
      return missedRun(deployment, { time, id, missed: { reason: "downtime", ...more } }, clock);
    });
    if (start === undefined || taken.has(start)) return runs;
    const next = { time: start, id: newId("deploymentRun", now) };
    if (halt) {
      return [...runs, missedRun(deployment, { ...next, missed: { reason: "stopped" }, why: haltText(halt) }, clock)];
    }
    if (!isHere) return [...runs, missedRun(deployment, { ...next, missed: { reason: "no_worker" } }, clock)];
    return [...runs, newRun(deployment, { ...next, by: deployment.name }, clock)];
  }
}

const announcementOf = ({ state, id }: StoredRun): Announcement => ({
  type: state === "failed" ? "deployment_run.failed" : "deployment_run.started",
  id,
});
