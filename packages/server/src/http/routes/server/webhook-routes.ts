import { RequestError, type WebhookEndpointView } from "@tandem/protocol";
import type { WebhookEndpoint } from "@tandem/sessions";
import { jsonRoute, type Route } from "../../route.ts";

/** Webhook endpoints. They need `admin`: a delivery tells of everything in the tenant. */
export const webhookRoutes: Route[] = [
  jsonRoute("organization.webhooks.create", {
    scope: "admin",
    at: "here",
    summary: "Register a webhook endpoint; only this response contains its signing secret",
    secretAnswer: true,
    handle: async ({ engine, body, token, newId }) => {
      const { endpoint, secret } = await engine.webhooks.create(body, newId("webhookEndpoint"));
      await note(engine, token.name, "created", endpoint.id);
      return { ...view(endpoint), signing_secret: secret };
    },
  }),
  jsonRoute("organization.webhooks.list", {
    scope: "admin",
    at: "here",
    summary: "List webhook endpoints, newest first",
    handle: async ({ engine, query: { limit, after_id: after, before_id: before, order = "desc" } }) => {
      const newest = await engine.webhooks.list();
      const all = order === "asc" ? newest.toReversed() : newest;
      const position = (id: string): number => {
        const found = all.findIndex((endpoint) => endpoint.id === id);
        if (found === -1) throw new RequestError("invalid_request", `There is no webhook endpoint ${id} to list from.`);
        return found;
      };
      const end = before === undefined ? undefined : position(before);
      const start = end === undefined ? (after === undefined ? 0 : position(after) + 1) : Math.max(0, end - limit);
      const some = all.slice(start, end ?? start + limit);
      return {
        data: some.map(view),
        has_more: end === undefined ? start + limit < all.length : start > 0,
        first_id: some[0]?.id ?? null,
        last_id: some.at(-1)?.id ?? null,
      };
    },
  }),
  jsonRoute("organization.webhooks.retrieve", {
    scope: "admin",
    at: "here",
    summary: "Retrieve a webhook endpoint, with its last delivery",
    handle: async ({ engine, params }) => view(await engine.webhooks.get(params.webhook_endpoint_id)),
  }),
  jsonRoute("organization.webhooks.update", {
    scope: "admin",
    at: "here",
    summary: "Change a webhook endpoint; events while it is disabled are never delivered",
    handle: async ({ engine, params, body, token }) => {
      const endpoint = await engine.webhooks.update(params.webhook_endpoint_id, body);
      await note(engine, token.name, "updated", endpoint.id);
      return view(endpoint);
    },
  }),
  jsonRoute("organization.webhooks.delete", {
    scope: "admin",
    at: "here",
    summary: "Delete a webhook endpoint and its delivery log",
    handle: async ({ engine, params: { webhook_endpoint_id: id }, token }) => {
      await engine.webhooks.delete(id);
      await note(engine, token.name, "deleted", id);
      return { type: "webhook_endpoint_deleted" as const, id };
    },
  }),
  jsonRoute("organization.webhooks.regenerateSigningSecret", {
    scope: "admin",
    at: "here",
    summary: "Replace the signing secret; for a day, deliveries are signed with both",
    secretAnswer: true,
    handle: async ({ engine, params: { webhook_endpoint_id: id }, token }) => {
      const secret = await engine.webhooks.rotate(id);
      await note(engine, token.name, "rotated", id);
      return { signing_secret: secret };
    },
  }),
  jsonRoute("organization.webhooks.test", {
    scope: "admin",
    at: "here",
    summary: "Send a test event to a webhook endpoint at once",
    handle: ({ engine, params }) => engine.webhooks.test(params.webhook_endpoint_id),
  }),
  jsonRoute("organization.webhooks.deliveries.list", {
    scope: "admin",
    at: "here",
    summary: "List the deliveries of a webhook endpoint, newest first",
    handle: async ({ engine, params, query: { limit, page } }) => {
      const data = await engine.webhooks.deliveries(params.webhook_endpoint_id, {
        limit,
        ...(page !== undefined && { after: page }),
      });
      return { data, next_page: data.length < limit ? null : data.at(-1)!.id };
    },
  }),
  jsonRoute("organization.webhooks.deliveries.resend", {
    scope: "admin",
    at: "here",
    summary: "Deliver an event of the log again, under the same id",
    handle: ({ engine, params }) => engine.webhooks.resend(params.webhook_endpoint_id, params.delivery_id),
  }),
];

const view = ({ source, pending, last, ...endpoint }: WebhookEndpoint): WebhookEndpointView => ({
  ...endpoint,
  tandem: { source, pending, last },
});

const note = (
  engine: Parameters<Parameters<typeof jsonRoute>[1]["handle"]>[0]["engine"],
  actor: string,
  action: "created" | "updated" | "deleted" | "rotated",
  id: string,
): Promise<void> => engine.audit.note({ kind: `webhook.${action}`, actor, details: { id } });
