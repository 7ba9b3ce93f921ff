import { createHmac, randomBytes } from "node:crypto";
import type { Probes } from "../probe.ts";

const note = "runs in the client";
const body = JSON.stringify({
  type: "event",
  id: "whe_1",
  created_at: "2026-01-01T00:00:00Z",
  data: { type: "session.deleted", id: "sesn_1", organization_id: "org_1", workspace_id: "ws_1" },
});

export const webhooks: Probes = {
  "beta.webhooks.parseUnverified": { run: async (client) => client.beta.webhooks.parseUnverified(body), note },
  "beta.webhooks.unwrap": {
    run: async (client) => {
      const key = randomBytes(32);
      const timestamp = String(Math.floor(Date.now() / 1_000));
      const signature = createHmac("sha256", key).update(`whe_1.${timestamp}.${body}`).digest("base64");
      return client.beta.webhooks.unwrap(body, {
        headers: { "webhook-id": "whe_1", "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` },
        key: `whsec_${key.toString("base64")}`,
      });
    },
    note,
  },
};
