import { jsonRoute, type Route } from "../../route.ts";
import { nextPage, toPageQuery } from "../../request/page-query.ts";

export const environmentRoutes: Route[] = [
  jsonRoute("environments.create", {
    scope: "admin",
    at: "worker",
    summary: "Create an environment",
    handle: ({ engine, body, newId }) => engine.environments.create(body, newId("environment")),
    find: ({ engine, newId }) => engine.environments.get(newId("environment")),
  }),
  jsonRoute("environments.list", {
    scope: "read",
    at: "here",
    summary: "List environments, newest first",
    handle: async ({ engine, query }) => nextPage(await engine.environments.list(toPageQuery(query))),
  }),
  jsonRoute("environments.retrieve", {
    scope: "read",
    at: "here",
    summary: "Retrieve an environment",
    handle: ({ engine, params }) => engine.environments.get(params.environment_id),
  }),
  jsonRoute("environments.update", {
    scope: "admin",
    at: "worker",
    summary: "Change an environment",
    handle: ({ engine, params, body }) => engine.environments.update(params.environment_id, body),
  }),
  jsonRoute("environments.archive", {
    scope: "admin",
    at: "here",
    summary: "Archive an environment: no new session can start in it",
    handle: ({ engine, params }) => engine.environments.archive(params.environment_id),
  }),
  jsonRoute("environments.delete", {
    scope: "admin",
    at: "here",
    summary: "Delete an environment that no session uses",
    handle: async ({ engine, params }) => {
      await engine.environments.delete(params.environment_id);
      await engine.environmentKeys.forget(params.environment_id);
      return { type: "environment_deleted" as const, id: params.environment_id };
    },
  }),
];
