import { newId, type Clock } from "@tandem/protocol";
import type { Records } from "@tandem/storage";
import type { Halt } from "../../budgets/kill-switch.ts";
import { DeploymentRecords } from "../deployment-records.ts";
import { DueRuns } from "../due-runs.ts";
import { RunStarter } from "../run-starter.ts";
import { Scheduler } from "../scheduler.ts";
import type { StoredDeployment } from "../stored-deployment.ts";

/** A clock that stands still until a test moves it. Its timers never fire: every step of a test is a new process. */
export class StillClock implements Clock {
  at: number;

  constructor(at: string) {
    this.at = Date.parse(at);
  }

  now(): number {
    return this.at;
  }
  monotonic(): number {
    return this.at;
  }
  after(): () => void {
    return () => undefined;
  }
  every(): () => void {
    return () => undefined;
  }
}

class Killed extends Error {}

/** Outlives processes: the store, and the sessions that were created. */
export interface World {
  records: Records;
  clock: StillClock;
  /** How often each session was created. */
  sessions: Map<string, number>;
  halt?: Halt;
  /** Thrown instead of creating a session. */
  failure?: Error;
}

/**
 * One process of the world: it starts, looks at the schedules, starts what is due, and stops. With `killAt`, it is killed before
 * its n-th write or creation of a session: from then on nothing that it does has an effect.
 */
export async function runProcess(world: World, killAt = Infinity): Promise<{ steps: number }> {
  let steps = 0;
  const step = (): void => {
    steps += 1;
    if (steps > killAt) throw new Killed("killed");
  };
  const { clock, sessions } = world;
  const records = new DeploymentRecords({
    ...world.records,
    get: (...args) => world.records.get(...args),
    getMany: (...args) => world.records.getMany(...args),
    list: (...args) => world.records.list(...args),
    write: async (...args) => {
      step();
      await world.records.write(...args);
    },
  });
  const agents = { get: async () => ({ archived_at: null, multiagent: null }) as never };
  const starter = new RunStarter({
    records,
    agents,
    tokens: { open: async ({ resources }) => resources },
    store: {
      sessions: { get: async (id) => (sessions.has(id) ? ({ id } as never) : undefined) },
      files: { get: async () => undefined },
    },
    sessions: {
      createForRun: async (_, { id }) => {
        step();
        if (world.failure) throw world.failure;
        sessions.set(id, (sessions.get(id) ?? 0) + 1);
        // Killed after the session was stored, before the run is settled.
        step();
      },
      discardFolder: async () => undefined,
    },
    clock,
  });
  const due = new DueRuns({ records, agents, halted: async () => world.halt, fits: async () => true, clock });
  const scheduler = new Scheduler({ records, due, starter, clock, log: { warn: () => undefined } });
  await scheduler.start();
  await scheduler.settled();
  await scheduler.stop();
  return { steps };
}

export function deploymentOf(clock: Clock, expression: string, timezone = "UTC"): StoredDeployment {
  const at = new Date(clock.now()).toISOString();
  return {
    id: newId("deployment", clock.now()),
    name: expression,
    description: null,
    agent: { id: "agent_1", version: 1 },
    environmentId: "env_local",
    initialEvents: [{ type: "user.message", content: [{ type: "text", text: "Hello" }] }],
    resources: [],
    tokens: {},
    vaultIds: [],
    budget: null,
    metadata: {},
    schedule: { expression, timezone },
    paused: null,
    handledTo: at,
    lastRunAt: null,
    createdAt: at,
    updatedAt: at,
    archivedAt: null,
  };
}
