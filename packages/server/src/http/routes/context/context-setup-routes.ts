import { RequestError } from "@tandem/protocol";
import type { ContextSetup } from "../../../served-context.ts";
import { type Call, jsonRoute, type Route } from "../../route.ts";

/** Databases and folders of the project. They change the config of the machine's owner, so other tenants cannot. */
export const contextSetupRoutes: Route[] = [
  jsonRoute("context.connections.test", {
    scope: "admin",
    at: "context",
    operator: true,
    longRunning: true,
    summary: "Open a database and count its tables; nothing is saved",
    handle: (call) => setupOf(call).testConnection(call.body, call.signal),
  }),
  jsonRoute("context.connections.create", {
    scope: "admin",
    at: "context",
    operator: true,
    longRunning: true,
    summary: "Test a database and add it to tandem.yaml; jobs and queries can use it at once",
    handle: async (call) => {
      const added = await setupOf(call).addConnection(call.body, call.signal);
      const details = { name: added.name, driver: call.body.driver, file: added.file };
      await call.engine.audit.note({ kind: "connection.added", actor: call.token.name, details });
      return added;
    },
  }),
  jsonRoute("context.sources.test", {
    scope: "admin",
    at: "context",
    operator: true,
    longRunning: true,
    summary: "Count the documents of a folder; nothing is saved",
    handle: (call) => setupOf(call).testSource(call.body, call.signal),
  }),
  jsonRoute("context.sources.create", {
    scope: "admin",
    at: "context",
    operator: true,
    longRunning: true,
    summary: "Test a folder of documents and add it to tandem.yaml; an ingest can read it at once",
    handle: async (call) => {
      const added = await setupOf(call).addSource(call.body, call.signal);
      const details = { name: added.name, type: call.body.type, path: call.body.path, file: added.file };
      await call.engine.audit.note({ kind: "source.added", actor: call.token.name, details });
      return added;
    },
  }),
];

function setupOf({ setup }: Pick<Call, "setup">): ContextSetup {
  if (setup) return setup;
  throw new RequestError("not_supported", "This server cannot change its config.", {
    fix: "Add the database with `tandem connections add` on its machine.",
  });
}
