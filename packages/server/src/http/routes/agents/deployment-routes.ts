import { admitRepositories } from "../../access/admit-repositories.ts";
import { jsonRoute, type Route } from "../../route.ts";
import { nextPage, toPageQuery, toSpan } from "../../request/page-query.ts";

export const deploymentRoutes: Route[] = [
  jsonRoute("deployments.create", {
    scope: "admin",
    at: "worker",
    summary: "Create a deployment: an agent that runs on a schedule or on request",
    handle: async ({ engine, body, token, newId }) => {
      await admitRepositories(engine, token, body.resources ?? []);
      return engine.deployments.create(body, token.name, newId("deployment"));
    },
    find: ({ engine, newId }) => engine.deployments.get(newId("deployment")),
  }),
  jsonRoute("deployments.list", {
    scope: "read",
    at: "here",
    summary: "List deployments, newest first",
    handle: async ({ engine, query }) =>
      nextPage(
        await engine.deployments.list({
          ...toPageQuery(query),
          created: toSpan(query),
          agentId: query.agent_id,
          status: query.status,
        }),
      ),
  }),
  jsonRoute("deployments.retrieve", {
    scope: "read",
    at: "here",
    summary: "Retrieve a deployment",
    handle: ({ engine, params }) => engine.deployments.get(params.deployment_id),
  }),
  jsonRoute("deployments.update", {
    scope: "admin",
    at: "worker",
    summary: "Change a deployment",
    handle: async ({ engine, params, body, token }) => {
      await admitRepositories(engine, token, body.resources ?? []);
      return engine.deployments.update(params.deployment_id, body, token.name);
    },
  }),
  jsonRoute("deployments.archive", {
    scope: "admin",
    at: "here",
    summary: "Archive a deployment: it never runs again and stays readable",
    handle: ({ engine, params, token }) => engine.deployments.archive(params.deployment_id, token.name),
  }),
  jsonRoute("deployments.pause", {
    scope: "run",
    at: "here",
    summary: "Pause a deployment's schedule",
    handle: ({ engine, params, token }) => engine.deployments.pause(params.deployment_id, token.name),
  }),
  jsonRoute("deployments.unpause", {
    scope: "run",
    at: "here",
    summary: "Resume a deployment's schedule at its next time",
    handle: ({ engine, params, token }) => engine.deployments.unpause(params.deployment_id, token.name),
  }),
  jsonRoute("deployments.run", {
    scope: "run",
    at: "worker",
    summary: "Start a session of a deployment now",
    longRunning: true,
    handle: ({ engine, params, token, newId }) =>
      engine.deployments.run(params.deployment_id, token.name, newId("deploymentRun")),
    find: ({ engine, newId }) => engine.deployments.runs.get(newId("deploymentRun")),
  }),
  jsonRoute("deploymentRuns.list", {
    scope: "read",
    at: "here",
    summary: "List the runs of deployments, newest first",
    handle: async ({ engine, query }) =>
      nextPage(
        await engine.deployments.runs.list({
          ...toPageQuery(query),
          created: toSpan(query),
          deploymentId: query.deployment_id,
          hasError: query.has_error === undefined ? undefined : query.has_error === "true",
          trigger: query.trigger_type,
        }),
      ),
  }),
  jsonRoute("deploymentRuns.retrieve", {
    scope: "read",
    at: "here",
    summary: "Retrieve a run of a deployment",
    handle: ({ engine, params }) => engine.deployments.runs.get(params.deployment_run_id),
  }),
];
