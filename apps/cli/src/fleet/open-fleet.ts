import type { Fleet } from "@tandem/sessions";
import { openLocalFleet } from "@tandem/tandem/fleet";
import type { Project } from "@tandem/tandem/config";
import type { Invocation } from "../invocation.ts";
import { serverFor } from "../sessions/open-client.ts";
import { ServerConnection } from "../sessions/server-connection.ts";

/** Reads the fleet from the running server, else from the database. */
export async function openFleet(invocation: Invocation, project: Project): Promise<Fleet & AsyncDisposable> {
  const server = await serverFor(invocation, project);
  return server ? serverFleet(await ServerConnection.open(server)) : openLocalFleet(invocation, project);
}

function serverFleet(server: ServerConnection): Fleet & AsyncDisposable {
  const { api } = server;
  return {
    status: () => api.call("fleet.retrieve"),
    dead: async () => (await api.call("fleet.dead.list")).data,
    requeue: async (key) => void (await api.call("fleet.dead.requeue", { params: { key } })),
    drain: (worker) => api.call("fleet.workers.drain", { params: { worker_id: worker } }),
    [Symbol.asyncDispose]: async () => server[Symbol.dispose](),
  };
}
