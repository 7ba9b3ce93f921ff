import { jsonRoute, type Route } from "../../route.ts";
import { nextPage, toPageQuery, toSpan } from "../../request/page-query.ts";

export const agentRoutes: Route[] = [
  jsonRoute("agents.create", {
    scope: "admin",
    at: "worker",
    summary: "Create an agent",
    handle: ({ engine, body, newId }) => engine.agents.create(body, newId("agent")),
    find: ({ engine, newId }) => engine.agents.get(newId("agent")),
  }),
  jsonRoute("agents.list", {
    scope: "read",
    at: "here",
    summary: "List agents, newest first",
    handle: async ({ engine, query }) =>
      nextPage(await engine.agents.list({ ...toPageQuery(query), created: toSpan(query) })),
  }),
  jsonRoute("agents.retrieve", {
    scope: "read",
    at: "here",
    summary: "Retrieve an agent, in its newest version or the one asked for",
    handle: ({ engine, params, query }) => engine.agents.get(params.agent_id, query.version),
  }),
  jsonRoute("agents.update", {
    scope: "admin",
    at: "worker",
    summary: "Change an agent: adds a version, unless nothing changes",
    handle: ({ engine, params, body }) => engine.agents.update(params.agent_id, body),
  }),
  jsonRoute("agents.archive", {
    scope: "admin",
    at: "here",
    summary: "Archive an agent",
    handle: ({ engine, params }) => engine.agents.archive(params.agent_id),
  }),
  jsonRoute("agents.versions.list", {
    scope: "read",
    at: "here",
    summary: "List the versions of an agent, newest first",
    handle: async ({ engine, params, query }) =>
      nextPage(await engine.agents.versions(params.agent_id, toPageQuery(query))),
  }),
];
