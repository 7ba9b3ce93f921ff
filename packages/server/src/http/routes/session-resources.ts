import { RequestError, session } from "@tandem/protocol";
import { z } from "zod";
import { pageThrough } from "../page-through.ts";
import { jsonRoute, type Route } from "../route.ts";
import { deletedOf, pageOf, pageQuery } from "../schemas/page.ts";

const resource = session.shape.resources.element;
const resourceParams = z.looseObject({ type: z.string() });
const tokenParams = z.looseObject({ authorization_token: z.string() });

const fixed = (): never => {
  throw new RequestError("not_supported", "The resources of a session are fixed when it is created.", {
    fix: "Create a session with the files that it needs.",
  });
};

export const sessionResourceRoutes: Route[] = [
  jsonRoute({
    name: "sessions.resources.list",
    method: "GET",
    path: "/v1/sessions/:session_id/resources",
    scope: "read",
    at: "here",
    summary: "List the files that a session was given",
    query: z.strictObject(pageQuery),
    response: pageOf(resource),
    handle: async ({ engine, params, query }) =>
      pageThrough((await engine.sessions.get(params.session_id)).resources, query),
  }),
  jsonRoute({
    name: "sessions.resources.retrieve",
    method: "GET",
    path: "/v1/sessions/:session_id/resources/:resource_id",
    scope: "read",
    at: "here",
    summary: "Retrieve one of them",
    response: resource,
    handle: async ({ engine, params }) => {
      const { resources } = await engine.sessions.get(params.session_id);
      const found = resources.find(({ id }) => id === params.resource_id);
      if (found) return found;
      throw new RequestError("not_found", `The session ${params.session_id} has no resource ${params.resource_id}.`);
    },
  }),
  jsonRoute({
    name: "sessions.resources.add",
    method: "POST",
    path: "/v1/sessions/:session_id/resources",
    scope: "run",
    at: "here",
    summary: "Refused: the resources of a session are fixed when it is created",
    body: resourceParams,
    response: resource,
    handle: async () => fixed(),
  }),
  jsonRoute({
    name: "sessions.resources.update",
    method: "POST",
    path: "/v1/sessions/:session_id/resources/:resource_id",
    scope: "run",
    at: "here",
    summary: "Refused: the resources of a session are fixed when it is created",
    body: tokenParams,
    response: resource,
    handle: async () => fixed(),
  }),
  jsonRoute({
    name: "sessions.resources.delete",
    method: "DELETE",
    path: "/v1/sessions/:session_id/resources/:resource_id",
    scope: "run",
    at: "here",
    summary: "Refused: the resources of a session are fixed when it is created",
    response: deletedOf("session_resource_deleted"),
    handle: async () => fixed(),
  }),
];
