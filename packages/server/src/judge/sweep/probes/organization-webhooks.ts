import type { Probe, Probes, SweepStage } from "../probe.ts";

/** The client's types have only these events; Tandem takes all that it has. */
const endpoint = ({ client }: SweepStage) =>
  client.beta.organization.webhooks.create({
    url: "http://127.0.0.1:9/hooks",
    enabled_events: ["user_profile.enforcement_action_opened"],
  });

const create: Probe = {
  run: (_, stage) => endpoint(stage),
  note: "all types of events, not only those of user profiles; also `http`",
};

export const organizationWebhooks: Probes = {
  "beta.organization.webhooks.create": create,
  "beta.organization.webhooks.list": (client) => client.beta.organization.webhooks.list(),
  "beta.organization.webhooks.retrieve": async (client, stage) =>
    client.beta.organization.webhooks.retrieve((await endpoint(stage)).id),
  "beta.organization.webhooks.update": async (client, stage) =>
    client.beta.organization.webhooks.update((await endpoint(stage)).id, { name: "Ops", state: "disabled" }),
  "beta.organization.webhooks.delete": async (client, stage) =>
    client.beta.organization.webhooks.delete((await endpoint(stage)).id),
  "beta.organization.webhooks.regenerateSigningSecret": {
    run: async (client, stage) => client.beta.organization.webhooks.regenerateSigningSecret((await endpoint(stage)).id),
    note: "for a day, deliveries are signed with the former secret, too",
  },
};
