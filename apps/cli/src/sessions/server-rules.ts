import { keptRule } from "@tandem/protocol";
import type { TestedCall } from "@tandem/sessions";
import { z } from "zod";
import type { ServerConnection } from "./server-connection.ts";
import type { SessionsClient } from "./sessions-client.ts";

// Our own server's words, which it checks itself.
const testedCall = z
  .looseObject({ verdict: z.looseObject({ action: z.string() }), parts: z.array(z.unknown()) })
  .transform((value) => value as unknown as TestedCall);

/** The rules of the server that is up. */
export function serverRules(server: ServerConnection): SessionsClient["rules"] {
  return {
    list: async (place) => {
      const query = place && { scope: place.scope, ...(place.of !== null && { of: place.of }) };
      const schema = z.object({ data: z.array(keptRule) });
      return (await server.call("GET", "/v1/rules", { schema, ...(query && { query }) })).data;
    },
    // Who adds it is who the token belongs to.
    add: (rule, { scope, of }) =>
      server.call("POST", "/v1/rules", { schema: keptRule, body: { ...rule, scope, ...(of !== null && { of }) } }),
    remove: async (id) =>
      void (await server.call("DELETE", `/v1/rules/${encodeURIComponent(id)}`, { schema: z.unknown() })),
    test: (call, { sessionId, agentId, folder, mode }) => {
      const body = { call, session_id: sessionId, agent_id: agentId, folder, mode };
      return server.call("POST", "/v1/rules/test", { schema: testedCall, body });
    },
  };
}
