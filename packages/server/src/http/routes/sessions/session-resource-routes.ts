import { RequestError } from "@tandem/protocol";
import { pageThrough } from "../../request/page-through.ts";
import { jsonRoute, type Route } from "../../route.ts";

const fixed = (): never => {
  throw new RequestError("not_supported", "The resources of a session are fixed when it is created.", {
    fix: "Create a session with the files that it needs.",
  });
};

export const sessionResourceRoutes: Route[] = [
  jsonRoute("sessions.resources.list", {
    scope: "read",
    at: "here",
    summary: "List the files that a session was given",
    handle: async ({ engine, params, query }) =>
      pageThrough((await engine.sessions.get(params.session_id)).resources, query),
  }),
  jsonRoute("sessions.resources.retrieve", {
    scope: "read",
    at: "here",
    summary: "Retrieve one of them",
    handle: async ({ engine, params }) => {
      const { resources } = await engine.sessions.get(params.session_id);
      const found = resources.find(({ id }) => id === params.resource_id);
      if (found) return found;
      throw new RequestError("not_found", `The session ${params.session_id} has no resource ${params.resource_id}.`);
    },
  }),
  jsonRoute("sessions.resources.add", {
    scope: "run",
    at: "here",
    summary: "Refused: the resources of a session are fixed when it is created",
    handle: async () => fixed(),
  }),
  jsonRoute("sessions.resources.update", {
    scope: "run",
    at: "here",
    summary: "Refused: the resources of a session are fixed when it is created",
    handle: async () => fixed(),
  }),
  jsonRoute("sessions.resources.delete", {
    scope: "run",
    at: "here",
    summary: "Refused: the resources of a session are fixed when it is created",
    handle: async () => fixed(),
  }),
];
