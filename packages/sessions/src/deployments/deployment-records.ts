import { RequestError, type Announcement, type DeploymentId } from "@tandem/protocol";
import { recordPages, type RecordChange, type Records } from "@tandem/storage";
import { z } from "zod";
import type { RecordQuery } from "../host/read-filtered.ts";
import { orOutrun, type Versioned } from "../host/until-written.ts";
import {
  handledTo,
  nextTime,
  storedDeployment,
  storedRun,
  type StartingRun,
  type StoredDeployment,
  type StoredRun,
} from "./stored-deployment.ts";

const SPACE = "deployments";
const DEPLOYMENT = "deployment";
/** One for each deployment that fires by itself, with its next time. */
const SCHEDULE = "deployment_schedule";
/** One for each scheduled time with a run: it makes that run the only one. */
const SLOT = "deployment_slot";
const RUN = "deployment_run";
/** Runs by deployment. */
const RUN_OF = "deployment_run_of";
/** Runs whose session is not created yet. */
const STARTING = "deployment_starting";
const PAGE = 500;

const waiting = z.object({ next: z.string() });

/** Deployments and runs in the store. */
export class DeploymentRecords {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async find(id: string): Promise<Versioned<StoredDeployment> | undefined> {
    const found = await this.#records.get(SPACE, DEPLOYMENT, id);
    return found && { value: storedDeployment.parse(found.value), version: found.version };
  }

  async get(id: string): Promise<Versioned<StoredDeployment>> {
    const found = await this.find(id);
    if (found) return found;
    throw new RequestError("not_found", `There is no deployment ${id}.`);
  }

  /** By id, which is the order of their creation; newest first by default. */
  async list(query: RecordQuery): Promise<StoredDeployment[]> {
    const found = await this.#records.list(SPACE, DEPLOYMENT, asRange(query));
    return found.map(({ value }) => storedDeployment.parse(value));
  }

  /** Deployments that fire by themselves, with their next time. */
  async schedules(): Promise<{ id: string; next: number }[]> {
    const found: { id: string; next: number }[] = [];
    for await (const page of recordPages(this.#records, SPACE, SCHEDULE)) {
      for (const { key, value } of page) found.push({ id: key, next: Date.parse(waiting.parse(value).next) });
    }
    return found;
  }

  /** The changes that store a deployment; version 0 for a new one. */
  put(deployment: StoredDeployment, version: number, now: number): RecordChange[] {
    const next = nextTime(deployment, now);
    const key = deployment.id;
    const value = { ...deployment, handledTo: new Date(handledTo(deployment, now)).toISOString() };
    return [
      { type: "put", kind: DEPLOYMENT, key, value, version },
      next === undefined
        ? { type: "delete", kind: SCHEDULE, key }
        : { type: "put", kind: SCHEDULE, key, value: { next: new Date(next).toISOString() } },
    ];
  }

  /** Which of these times have a run. */
  async taken(deployment: DeploymentId, times: readonly number[]): Promise<Set<number>> {
    const keys = times.map((time) => slotKey(deployment, new Date(time).toISOString()));
    const found = await this.#records.getMany(SPACE, SLOT, keys);
    return new Set(found.map(({ key }) => Date.parse(key.split("/")[1]!)));
  }

  /** The changes that store a new run. */
  addRun(run: StoredRun): RecordChange[] {
    const { id, deployment, scheduledAt } = run;
    return [
      { type: "put", kind: RUN, key: id, value: run, version: 0 },
      { type: "put", kind: RUN_OF, key: `${deployment}/${id}`, value: {}, version: 0 },
      ...(scheduledAt === null
        ? []
        : [
            { type: "put", kind: SLOT, key: slotKey(deployment, scheduledAt), value: { run: id }, version: 0 } as const,
          ]),
      ...(run.state === "starting" ? [{ type: "put", kind: STARTING, key: id, value: {} } as const] : []),
    ];
  }

  /** The changes that store the next state of a run. */
  changeRun(run: StoredRun, version: number): RecordChange[] {
    return [
      { type: "put", kind: RUN, key: run.id, value: run, version },
      ...(run.state === "starting" ? [] : [{ type: "delete", kind: STARTING, key: run.id } as const]),
    ];
  }

  async run(id: string): Promise<Versioned<StoredRun> | undefined> {
    const found = await this.#records.get(SPACE, RUN, id);
    return found && { value: storedRun.parse(found.value), version: found.version };
  }

  async startingRuns(): Promise<StartingRun[]> {
    const keys = await this.#records.list(SPACE, STARTING, { limit: PAGE });
    const found = await this.#records.getMany(
      SPACE,
      RUN,
      keys.map(({ key }) => key),
    );
    return found
      .map(({ value }) => storedRun.parse(value))
      .filter((run): run is StartingRun => run.state === "starting");
  }

  async runs(query: RecordQuery & { deployment?: string | undefined }): Promise<StoredRun[]> {
    const { deployment, after, ...range } = query;
    const parse = (found: readonly { value: unknown }[]): StoredRun[] =>
      found.map(({ value }) => storedRun.parse(value));
    if (deployment === undefined) return parse(await this.#records.list(SPACE, RUN, asRange({ after, ...range })));
    const keys = await this.#records.list(SPACE, RUN_OF, {
      ...asRange({ after: after === undefined ? undefined : `${deployment}/${after}`, ...range }),
      prefix: `${deployment}/`,
    });
    const ids = keys.map(({ key }) => key.slice(deployment.length + 1));
    return parse(await this.#records.getMany(SPACE, RUN, ids));
  }

  /** Rejects with `Outrun` if a record has another version. */
  write(changes: readonly RecordChange[], ...announce: Announcement[]): Promise<void> {
    return orOutrun(this.#records.write(SPACE, changes, { announce }));
  }
}

const slotKey = (deployment: string, scheduledAt: string): string => `${deployment}/${scheduledAt}`;

const asRange = ({ after, limit, order = "desc" }: RecordQuery) => ({
  limit,
  order,
  ...(after !== undefined && { after }),
});

/** Whether the tenant of this store needs a process because a deployment fires by itself. */
export const hasSchedules = async (records: Records): Promise<boolean> =>
  (await records.list(SPACE, SCHEDULE, { limit: 1 })).length > 0 ||
  (await records.list(SPACE, STARTING, { limit: 1 })).length > 0;

/** For a process that forwards requests about a deployment. */
export async function environmentOfDeployment(records: Records, id: string): Promise<string | undefined> {
  const found = await records.get(SPACE, DEPLOYMENT, id);
  return found && storedDeployment.parse(found.value).environmentId;
}
