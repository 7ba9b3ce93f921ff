import { environment, environmentCreateParams, environmentUpdateParams } from "@tandem/protocol";
import { z } from "zod";
import { jsonRoute, type Route } from "../route.ts";
import { deletedOf, includeArchived, nextPage, pageOf, pageQuery, toPageQuery } from "../schemas/page.ts";

export const environmentRoutes: Route[] = [
  jsonRoute({
    name: "environments.create",
    method: "POST",
    path: "/v1/environments",
    scope: "admin",
    at: "worker",
    summary: "Create an environment",
    body: environmentCreateParams,
    response: environment,
    handle: ({ engine, body }) => engine.environments.create(body),
  }),
  jsonRoute({
    name: "environments.list",
    method: "GET",
    path: "/v1/environments",
    scope: "read",
    at: "here",
    summary: "List environments, newest first",
    query: z.strictObject({ ...pageQuery, ...includeArchived }),
    response: pageOf(environment),
    handle: async ({ engine, query }) => nextPage(await engine.environments.list(toPageQuery(query))),
  }),
  jsonRoute({
    name: "environments.retrieve",
    method: "GET",
    path: "/v1/environments/:environment_id",
    scope: "read",
    at: "here",
    summary: "Retrieve an environment",
    response: environment,
    handle: ({ engine, params }) => engine.environments.get(params.environment_id),
  }),
  jsonRoute({
    name: "environments.update",
    method: "POST",
    path: "/v1/environments/:environment_id",
    scope: "admin",
    at: "worker",
    summary: "Change an environment",
    body: environmentUpdateParams,
    response: environment,
    handle: ({ engine, params, body }) => engine.environments.update(params.environment_id, body),
  }),
  jsonRoute({
    name: "environments.archive",
    method: "POST",
    path: "/v1/environments/:environment_id/archive",
    scope: "admin",
    at: "here",
    summary: "Archive an environment: no session can begin in it any more",
    response: environment,
    handle: ({ engine, params }) => engine.environments.archive(params.environment_id),
  }),
  jsonRoute({
    name: "environments.delete",
    method: "DELETE",
    path: "/v1/environments/:environment_id",
    scope: "admin",
    at: "here",
    summary: "Delete an environment that no session uses",
    response: deletedOf("environment_deleted"),
    handle: async ({ engine, params }) => {
      await engine.environments.delete(params.environment_id);
      return { type: "environment_deleted" as const, id: params.environment_id };
    },
  }),
];
