import type { WebhookEndpointView } from "@tandem/protocol";
import type { ServerConnection } from "./server-connection.ts";
import type { SessionsClient } from "./sessions-client.ts";

/** The webhook endpoints of the running server. */
export function webhooksOf({ api }: ServerConnection): SessionsClient["webhooks"] {
  const at = (id: string) => ({ params: { webhook_endpoint_id: id } });
  return {
    list: async () => (await api.call("organization.webhooks.list", { query: { limit: 1_000 } })).data.map(endpointOf),
    get: async (id) => endpointOf(await api.call("organization.webhooks.retrieve", at(id))),
    create: async (body) => {
      const { signing_secret: secret, ...made } = await api.call("organization.webhooks.create", { body });
      return { endpoint: endpointOf(made), secret };
    },
    update: async (id, body) => endpointOf(await api.call("organization.webhooks.update", { ...at(id), body })),
    delete: async (id) => void (await api.call("organization.webhooks.delete", at(id))),
    rotate: async (id) => (await api.call("organization.webhooks.regenerateSigningSecret", at(id))).signing_secret,
    test: (id) => api.call("organization.webhooks.test", at(id)),
    deliveries: async (id, { limit, after }) =>
      (await api.call("organization.webhooks.deliveries.list", { ...at(id), query: { limit, page: after } })).data,
    resend: (id, delivery) =>
      api.call("organization.webhooks.deliveries.resend", {
        params: { webhook_endpoint_id: id, delivery_id: delivery },
      }),
  };
}

const endpointOf = ({ tandem, ...endpoint }: WebhookEndpointView) => ({ ...endpoint, ...tandem });
