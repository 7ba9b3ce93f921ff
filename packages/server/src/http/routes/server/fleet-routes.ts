import { jsonRoute, type Route } from "../../route.ts";

/** All processes on the store, listed by any of them. */
export const fleetRoutes: Route[] = [
  jsonRoute("fleet.retrieve", {
    scope: "read",
    at: "here",
    operator: true,
    summary: "Show processes, waiting work, held sessions and used-up quotas",
    handle: async ({ engine }) => engine.fleet.status(),
  }),
  jsonRoute("fleet.dead.list", {
    scope: "read",
    at: "here",
    operator: true,
    summary: "List runs that failed their last attempt, newest first",
    handle: async ({ engine }) => ({ data: await engine.fleet.dead() }),
  }),
  jsonRoute("fleet.dead.requeue", {
    scope: "admin",
    at: "here",
    operator: true,
    summary: "Retry a failed run, with all of its attempts",
    handle: async ({ engine, params, token }) => {
      await engine.fleet.requeue(params.key, token.name);
      return { type: "run_requeued" as const, key: params.key };
    },
  }),
  jsonRoute("fleet.workers.drain", {
    scope: "admin",
    at: "here",
    operator: true,
    summary: "Drain a worker: it takes no new work and hands over its sessions",
    handle: async ({ engine, params, token }) => engine.fleet.drain(params.worker_id, token.name),
  }),
];
