import { writePreviews } from "../../sse/write-previews.ts";
import { jsonRoute, streamRoute, type Route } from "../../route.ts";

/** Internal routes between processes of a fleet, on the same port and with tokens. */
export const fleetInternalRoutes: Route[] = [
  streamRoute("fleet.previews.stream", {
    scope: "read",
    at: "here",
    extension: true,
    summary: "For servers: stream previews of a session that this process writes, each with the event that it follows",
    handle: async ({ engine, params }, { open }) => {
      const { id } = await engine.sessions.get(params.session_id);
      await writePreviews(engine.sessions, id, open);
    },
  }),
  jsonRoute("fleet.sends.settled", {
    scope: "read",
    at: "here",
    extension: true,
    summary: "For servers of 0.1.0: always `null`, because the database stores the results of sends for retries",
    handle: async ({ engine, params }) => {
      await engine.sessions.get(params.session_id);
      return { begun: null };
    },
  }),
];
