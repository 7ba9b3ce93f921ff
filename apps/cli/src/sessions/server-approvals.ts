import { approval } from "@tandem/protocol";
import { z } from "zod";
import type { ServerConnection } from "./server-connection.ts";
import type { SessionsClient } from "./sessions-client.ts";

const delivery = z.object({ target: z.string(), delivered: z.boolean(), detail: z.string().nullable() });

/** What waits for a person in the server that is up. */
export function serverApprovals(server: ServerConnection): Pick<SessionsClient, "approvals" | "notifications"> {
  const at = (id: string) => `/v1/approvals/${encodeURIComponent(id)}`;
  return {
    approvals: {
      async list({ status, session, limit, cursor }) {
        const schema = z.object({ data: z.array(approval), next_page: z.string().nullable() });
        const query = { status, session_id: session, limit, page: cursor };
        const page = await server.call("GET", "/v1/approvals", { schema, query });
        return { data: page.data, next: page.next_page };
      },
      get: (id) => server.call("GET", at(id), { schema: approval }),
      // Who answers is who the token belongs to.
      answer: (id, body) => server.call("POST", at(id), { schema: approval, body }),
    },
    notifications: {
      test: async () => {
        const schema = z.object({ data: z.array(delivery) });
        return (await server.call("POST", "/v1/notifications/test", { schema })).data;
      },
    },
  };
}
