import { writePreviews } from "../../../fleet/write-previews.ts";
import { jsonRoute, streamRoute, type Route } from "../../route.ts";
import { underWay } from "../sessions/session-event-routes.ts";

/** Internal routes between processes of a fleet, on the same port and with tokens. */
export const fleetInternalRoutes: Route[] = [
  streamRoute("fleet.previews.stream", {
    scope: "read",
    at: "here",
    extension: true,
    summary:
      "For servers: stream previews of a session that this process writes, each with the event that it comes after",
    handle: async ({ engine, params }, { open }) => {
      const { id } = await engine.sessions.get(params.session_id);
      await writePreviews(engine.sessions, id, open);
    },
  }),
  jsonRoute("fleet.sends.settled", {
    scope: "read",
    at: "here",
    extension: true,
    summary: "For servers: wait until no send to a session is under way here, and say when the first of them began",
    handle: async ({ engine, params }) => {
      const { id } = await engine.sessions.get(params.session_id);
      const begun = await underWay.settled(id);
      return { begun: Number.isFinite(begun) ? begun : null };
    },
  }),
];
