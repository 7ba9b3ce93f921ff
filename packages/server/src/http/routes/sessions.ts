import { RequestError, session, SESSION_STATUSES, sessionCreateParams, sessionUpdateParams } from "@tandem/protocol";
import { z } from "zod";
import { jsonRoute, type Route } from "../route.ts";
import {
  createdBetween,
  deletedOf,
  includeArchived,
  nextPage,
  order,
  pageQuery,
  toPageQuery,
  toSpan,
  twoWayPageOf,
} from "../schemas/page.ts";

const listQuery = z.strictObject({
  ...pageQuery,
  ...includeArchived,
  ...order,
  ...createdBetween,
  agent_id: z.string().optional(),
  agent_version: z.coerce.number().int().min(1).optional(),
  statuses: z.array(z.enum(SESSION_STATUSES)).optional(),
  deployment_id: z.string().optional(),
  memory_store_id: z.string().optional(),
});

export const sessionRoutes: Route[] = [
  jsonRoute({
    name: "sessions.create",
    method: "POST",
    path: "/v1/sessions",
    scope: "run",
    at: "worker",
    summary: "Create a session of an agent in an environment",
    patient: true,
    body: sessionCreateParams,
    response: session,
    handle: ({ engine, body, token }) => engine.sessions.create(body, token.name),
  }),
  jsonRoute({
    name: "sessions.list",
    method: "GET",
    path: "/v1/sessions",
    scope: "read",
    at: "here",
    summary: "List sessions, newest first",
    query: listQuery,
    response: twoWayPageOf(session),
    handle: async ({ engine, query }) => {
      if (query.deployment_id !== undefined) throw notThere("deployment_id", "deployments");
      if (query.memory_store_id !== undefined) throw notThere("memory_store_id", "sessions with memory stores");
      const page = await engine.sessions.list({
        ...toPageQuery(query),
        created: toSpan(query),
        agentId: query.agent_id,
        agentVersion: query.agent_version,
        statuses: query.statuses,
      });
      return { ...nextPage(page), prev_page: page.previous };
    },
  }),
  jsonRoute({
    name: "sessions.retrieve",
    method: "GET",
    path: "/v1/sessions/:session_id",
    scope: "read",
    at: "here",
    summary: "Retrieve a session",
    response: session,
    handle: ({ engine, params }) => engine.sessions.get(params.session_id),
  }),
  jsonRoute({
    name: "sessions.update",
    method: "POST",
    path: "/v1/sessions/:session_id",
    scope: "run",
    at: "writer",
    summary: "Change a session's title, metadata, budget or tools",
    body: sessionUpdateParams,
    response: session,
    handle: ({ engine, params, body, token }) => engine.sessions.update(params.session_id, body, token.name),
  }),
  jsonRoute({
    name: "sessions.archive",
    method: "POST",
    path: "/v1/sessions/:session_id/archive",
    scope: "run",
    at: "writer",
    summary: "Archive a session: it ends and stays readable",
    response: session,
    handle: ({ engine, params, token }) => engine.sessions.archive(params.session_id, token.name),
  }),
  jsonRoute({
    name: "sessions.delete",
    method: "DELETE",
    path: "/v1/sessions/:session_id",
    scope: "run",
    at: "writer",
    summary: "Delete a session and all that is its own, for good",
    response: deletedOf("session_deleted"),
    handle: async ({ engine, params, token }) => {
      await engine.sessions.delete(params.session_id, token.name);
      return { type: "session_deleted" as const, id: params.session_id };
    },
  }),
];

const notThere = (field: string, what: string): RequestError =>
  new RequestError("invalid_request", `${field}: Tandem has no ${what}.`);
