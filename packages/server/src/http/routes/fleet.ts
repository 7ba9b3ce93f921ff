import { deadLetter, fleetStatus, fleetWorker } from "@tandem/protocol";
import { z } from "zod";
import { jsonRoute, type Route } from "../route.ts";
import { listOf } from "../schemas/page.ts";

/** All processes on the store, seen from any of them. */
export const fleetRoutes: Route[] = [
  jsonRoute({
    name: "fleet.retrieve",
    method: "GET",
    path: "/v1/fleet",
    scope: "read",
    at: "here",
    extension: true,
    operator: true,
    summary: "Say which processes there are, what waits for them, what they hold, and which quotas are used up",
    response: fleetStatus,
    handle: async ({ engine }) => engine.fleet.status(),
  }),
  jsonRoute({
    name: "fleet.dead.list",
    method: "GET",
    path: "/v1/fleet/dead",
    scope: "read",
    at: "here",
    extension: true,
    operator: true,
    summary: "List runs that were given up after their last attempt, newest first",
    response: listOf(deadLetter),
    handle: async ({ engine }) => ({ data: await engine.fleet.dead() }),
  }),
  jsonRoute({
    name: "fleet.dead.requeue",
    method: "POST",
    path: "/v1/fleet/dead/:key/requeue",
    scope: "admin",
    at: "here",
    extension: true,
    operator: true,
    summary: "Send a run that was given up again, with all its attempts",
    response: z.object({ type: z.literal("run_requeued"), key: z.string() }),
    handle: async ({ engine, params, token }) => {
      await engine.fleet.requeue(params.key, token.name);
      return { type: "run_requeued" as const, key: params.key };
    },
  }),
  jsonRoute({
    name: "fleet.workers.drain",
    method: "POST",
    path: "/v1/fleet/workers/:worker_id/drain",
    scope: "admin",
    at: "here",
    extension: true,
    operator: true,
    summary: "Have a worker take nothing more and hand over what it has",
    response: fleetWorker,
    handle: async ({ engine, params, token }) => engine.fleet.drain(params.worker_id, token.name),
  }),
];
