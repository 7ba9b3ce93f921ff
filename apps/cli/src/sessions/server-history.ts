import { rewindOutcome, session, sessionCheckpoints, sessionDiff } from "@tandem/protocol";
import type { History } from "@tandem/sessions";
import { z } from "zod";
import type { ServerConnection } from "./server-connection.ts";

/** The pasts of sessions of the server that is up. */
export function serverHistory(server: ServerConnection): History {
  const at = (id: string, ...steps: string[]) => `/v1/sessions/${[id, ...steps].map(encodeURIComponent).join("/")}`;
  return {
    checkpoints: (id) => server.call("GET", at(id, "checkpoints"), { schema: sessionCheckpoints }),
    diff: (id, query) => server.call("GET", at(id, "diff"), { schema: sessionDiff, query: { ...query } }),
    rewind: (id, body) => server.call("POST", at(id, "rewind"), { schema: rewindOutcome, body }),
    undoRewind: (id, body) => server.call("POST", at(id, "rewind", "undo"), { schema: rewindOutcome, body }),
    fork: (id, body) => server.call("POST", at(id, "fork"), { schema: session, body }),
    compact: async (id) => void (await server.call("POST", at(id, "compact"), { schema: z.unknown() })),
  };
}
