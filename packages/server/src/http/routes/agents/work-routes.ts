import { nextPage, toPageQuery } from "../../request/page-query.ts";
import { jsonRoute, type Route } from "../../route.ts";

/** The work queues of self-hosted environments, and the keys of their workers. */
export const workRoutes: Route[] = [
  jsonRoute("environments.work.poll", {
    scope: "run",
    at: "here",
    summary: "Take a waiting item; null if none arrives within `block_ms`",
    handle: ({ engine, params, query, header, signal }) =>
      engine.work.poll(params.environment_id, {
        blockMs: query.block_ms ?? 0,
        reclaimMs: query.reclaim_older_than_ms,
        worker: header("anthropic-worker-id"),
        signal,
      }),
  }),
  jsonRoute("environments.work.stats", {
    scope: "read",
    at: "here",
    summary: "Count the waiting items and the polling workers",
    handle: ({ engine, params }) => engine.work.stats(params.environment_id),
  }),
  jsonRoute("environments.work.list", {
    scope: "read",
    at: "here",
    summary: "List work items, newest first",
    handle: async ({ engine, params, query }) =>
      nextPage(await engine.work.list(params.environment_id, toPageQuery(query))),
  }),
  jsonRoute("environments.work.retrieve", {
    scope: "read",
    at: "here",
    summary: "Retrieve a work item",
    handle: ({ engine, params }) => engine.work.get(params.environment_id, params.work_id),
  }),
  jsonRoute("environments.work.update", {
    scope: "run",
    at: "here",
    summary: "Change the metadata of a work item",
    handle: ({ engine, params, body }) => engine.work.update(params.environment_id, params.work_id, body.metadata),
  }),
  jsonRoute("environments.work.ack", {
    scope: "run",
    at: "here",
    summary: "Acknowledge an item that was polled, so that no other worker takes it",
    isRepeatable: true,
    handle: ({ engine, params }) => engine.work.ack(params.environment_id, params.work_id),
  }),
  jsonRoute("environments.work.heartbeat", {
    scope: "run",
    at: "here",
    summary: "Extend the lease of an item; 412 if its last heartbeat is not `expected_last_heartbeat`",
    isRepeatable: true,
    handle: ({ engine, params, query, isResumed }) =>
      engine.work.heartbeat(params.environment_id, params.work_id, {
        expected: query.expected_last_heartbeat,
        ttlMs: query.desired_ttl_seconds === undefined ? undefined : query.desired_ttl_seconds * 1_000,
        isResumed,
      }),
  }),
  jsonRoute("environments.work.stop", {
    scope: "run",
    at: "here",
    summary: "Ask the worker of an item to release it, or stop the item at once with `force`",
    handle: ({ engine, params, body, token }) =>
      engine.work.stop(params.environment_id, params.work_id, {
        force: body.force ?? false,
        byWorker: token.worker !== undefined,
      }),
  }),
  jsonRoute("environments.keys.list", {
    scope: "admin",
    at: "here",
    summary: "List the keys of a self-hosted environment without their secrets, newest first",
    handle: async ({ engine, params }) => ({ data: await engine.environmentKeys.list(params.environment_id) }),
  }),
  jsonRoute("environments.keys.create", {
    scope: "admin",
    at: "here",
    summary: "Create a key for the workers of a self-hosted environment; only this response contains its secret",
    secretAnswer: true,
    handle: ({ engine, params, body, token }) =>
      engine.environmentKeys.create(params.environment_id, { ...body, by: token.name }),
  }),
  jsonRoute("environments.keys.delete", {
    scope: "admin",
    at: "here",
    summary: "Revoke a key of a self-hosted environment",
    handle: async ({ engine, params, token }) => {
      await engine.environmentKeys.revoke(params.environment_id, params.key_id, token.name);
      return { type: "environment_key_deleted" as const, id: params.key_id };
    },
  }),
];
