import { RequestError, resourceId } from "@tandem/protocol";
import { refuseReference } from "../../access/refuse-reference.ts";
import { pageThrough } from "../../request/page-through.ts";
import { jsonRoute, type Route } from "../../route.ts";

export const sessionResourceRoutes: Route[] = [
  jsonRoute("sessions.resources.list", {
    scope: "read",
    at: "here",
    summary: "List the resources of a session",
    handle: async ({ engine, params, query }) =>
      pageThrough((await engine.sessions.get(params.session_id)).resources, query, resourceId),
  }),
  jsonRoute("sessions.resources.retrieve", {
    scope: "read",
    at: "here",
    summary: "Retrieve a resource of a session",
    handle: async ({ engine, params }) => {
      const { resources } = await engine.sessions.get(params.session_id);
      const found = resources.find((each) => resourceId(each) === params.resource_id);
      if (found) return found;
      throw new RequestError("not_found", `The session ${params.session_id} has no resource ${params.resource_id}.`);
    },
  }),
  jsonRoute("sessions.resources.add", {
    scope: "run",
    at: "folder",
    summary: "Mount an uploaded file in a session's folder",
    handle: ({ engine, params, body, token, newId }) =>
      engine.sessions.resources.add(params.session_id, body, token.name, newId("resource")),
    isRepeatable: true,
  }),
  jsonRoute("sessions.resources.update", {
    scope: "run",
    at: "writer",
    summary: "Change the token of a repository",
    handle: ({ engine, params, body, token }) => {
      refuseReference(token, body.authorization_token);
      return engine.sessions.resources.update(params.session_id, params.resource_id, body, token.name);
    },
  }),
  jsonRoute("sessions.resources.delete", {
    scope: "run",
    at: "folder",
    summary: "Remove a resource; its file is deleted unless it has changed",
    handle: async ({ engine, params, token }) => {
      await engine.sessions.resources.delete(params.session_id, params.resource_id, token.name);
      return { type: "session_resource_deleted" as const, id: params.resource_id };
    },
  }),
];
