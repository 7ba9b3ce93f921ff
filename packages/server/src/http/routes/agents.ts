import { agent, agentCreateParams, agentUpdateParams } from "@tandem/protocol";
import { z } from "zod";
import { jsonRoute, type Route } from "../route.ts";
import { createdBetween, includeArchived, nextPage, pageOf, pageQuery, toPageQuery, toSpan } from "../schemas/page.ts";

export const agentRoutes: Route[] = [
  jsonRoute({
    name: "agents.create",
    method: "POST",
    path: "/v1/agents",
    scope: "admin",
    at: "worker",
    summary: "Create an agent",
    body: agentCreateParams,
    response: agent,
    handle: ({ engine, body }) => engine.agents.create(body),
  }),
  jsonRoute({
    name: "agents.list",
    method: "GET",
    path: "/v1/agents",
    scope: "read",
    at: "here",
    summary: "List agents, newest first",
    query: z.strictObject({ ...pageQuery, ...includeArchived, ...createdBetween }),
    response: pageOf(agent),
    handle: async ({ engine, query }) =>
      nextPage(await engine.agents.list({ ...toPageQuery(query), created: toSpan(query) })),
  }),
  jsonRoute({
    name: "agents.retrieve",
    method: "GET",
    path: "/v1/agents/:agent_id",
    scope: "read",
    at: "here",
    summary: "Retrieve an agent, in its newest version or the one asked for",
    query: z.strictObject({ version: z.coerce.number().int().min(1).optional() }),
    response: agent,
    handle: ({ engine, params, query }) => engine.agents.get(params.agent_id, query.version),
  }),
  jsonRoute({
    name: "agents.update",
    method: "POST",
    path: "/v1/agents/:agent_id",
    scope: "admin",
    at: "worker",
    summary: "Change an agent: adds a version, unless nothing changes",
    body: agentUpdateParams,
    response: agent,
    handle: ({ engine, params, body }) => engine.agents.update(params.agent_id, body),
  }),
  jsonRoute({
    name: "agents.archive",
    method: "POST",
    path: "/v1/agents/:agent_id/archive",
    scope: "admin",
    at: "here",
    summary: "Archive an agent",
    response: agent,
    handle: ({ engine, params }) => engine.agents.archive(params.agent_id),
  }),
  jsonRoute({
    name: "agents.versions.list",
    method: "GET",
    path: "/v1/agents/:agent_id/versions",
    scope: "read",
    at: "here",
    summary: "List the versions of an agent, newest first",
    query: z.strictObject(pageQuery),
    response: pageOf(agent),
    handle: async ({ engine, params, query }) =>
      nextPage(await engine.agents.versions(params.agent_id, toPageQuery(query))),
  }),
];
