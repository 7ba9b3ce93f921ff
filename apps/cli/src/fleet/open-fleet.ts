import { deadLetter, fleetStatus, fleetWorker } from "@tandem/protocol";
import type { Fleet } from "@tandem/sessions";
import { z } from "zod";
import { openLocalFleet } from "@tandem/tandem/fleet";
import type { Project } from "@tandem/tandem/config";
import type { Invocation } from "../invocation.ts";
import { serverFor } from "../sessions/open-client.ts";
import { ServerConnection } from "../sessions/server-connection.ts";

/** Reads the fleet from the running server, else from the database. */
export async function openFleet(context: Invocation, project: Project): Promise<Fleet & AsyncDisposable> {
  const server = await serverFor(context, project);
  return server ? serverFleet(await ServerConnection.open(server)) : openLocalFleet(context, project);
}

function serverFleet(server: ServerConnection): Fleet & AsyncDisposable {
  const path = (...steps: string[]) => `/v1/fleet/${steps.map(encodeURIComponent).join("/")}`;
  return {
    status: () => server.call("GET", "/v1/fleet", { schema: fleetStatus }),
    dead: async () =>
      (await server.call("GET", path("dead"), { schema: z.object({ data: z.array(deadLetter) }) })).data,
    requeue: async (key) => void (await server.call("POST", path("dead", key, "requeue"), { schema: z.unknown() })),
    drain: (worker) => server.call("POST", path("workers", worker, "drain"), { schema: fleetWorker }),
    [Symbol.asyncDispose]: async () => server[Symbol.dispose](),
  };
}
