import { DEFAULT_TENANT } from "@tandem/storage";
import { jsonRoute, signedRoute, type Call, type Route } from "../../route.ts";

/** A tenant's deliveries name the tenant, because no token does. */
const addressed =
  ({ tenant }: Pick<Call, "tenant">) =>
  <T extends { path: string }>(trigger: T): T =>
    tenant.id === DEFAULT_TENANT ? trigger : { ...trigger, path: `${trigger.path}?tenant=${tenant.id}` };

/** Anyone with a trigger's secret can start runs, so its settings need the scope `admin`. */
export const triggerRoutes: Route[] = [
  jsonRoute("deployments.triggers.list", {
    scope: "read",
    at: "here",
    summary: "List the triggers of a deployment",
    handle: async (call) => ({
      data: (await call.engine.triggers.list(call.params.deployment_id)).map(addressed(call)),
    }),
  }),
  jsonRoute("deployments.triggers.create", {
    scope: "admin",
    at: "here",
    secretAnswer: true,
    summary: "Create a trigger: signed deliveries from another service start runs",
    handle: async (call) => {
      const { engine, params, body, token } = call;
      return addressed(call)(await engine.triggers.create(params.deployment_id, body, token.name));
    },
  }),
  jsonRoute("deployments.triggers.retrieve", {
    scope: "read",
    at: "here",
    summary: "Retrieve a trigger",
    handle: async (call) =>
      addressed(call)(await call.engine.triggers.get(call.params.deployment_id, call.params.trigger_id)),
  }),
  jsonRoute("deployments.triggers.update", {
    scope: "admin",
    at: "here",
    summary: "Change a trigger",
    handle: async (call) => {
      const { engine, params, body, token } = call;
      return addressed(call)(await engine.triggers.update(params.deployment_id, params.trigger_id, body, token.name));
    },
  }),
  jsonRoute("deployments.triggers.delete", {
    scope: "admin",
    at: "here",
    summary: "Delete a trigger: deliveries to its address are refused",
    handle: async ({ engine, params, token }) => {
      await engine.triggers.delete(params.deployment_id, params.trigger_id, token.name);
      return { type: "trigger_deleted" as const, id: params.trigger_id };
    },
  }),
  jsonRoute("deployments.triggers.rotate", {
    scope: "admin",
    at: "here",
    secretAnswer: true,
    summary: "Replace the secret of a trigger",
    handle: async (call) => {
      const { engine, params, body, token } = call;
      return addressed(call)(
        await engine.triggers.rotate(params.deployment_id, params.trigger_id, body?.secret, token.name),
      );
    },
  }),
  jsonRoute("deployments.triggers.deliveries", {
    scope: "read",
    at: "here",
    summary: "List the latest deliveries of a trigger that had a valid signature",
    handle: async ({ engine, params, query }) => ({
      data: await engine.triggers.deliveries(params.deployment_id, params.trigger_id, query.limit),
    }),
  }),
];

/** `DeliveryIntake` handles it. */
export const triggerDelivery = signedRoute("triggers.deliver", "Deliver an event to a trigger, with its signature");
