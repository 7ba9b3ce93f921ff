import type Anthropic from "@anthropic-ai/sdk";
import type { Probes } from "../probe.ts";

const made = async (client: Anthropic, name: string) => (await client.beta.environments.create({ name })).id;

export const environments: Probes = {
  "beta.environments.create": {
    run: (client) => client.beta.environments.create({ name: "sweep" }),
    variants: {
      "limited networking": (client) =>
        client.beta.environments.create({
          name: "limited",
          config: { type: "cloud", networking: { type: "limited", allowed_hosts: ["example.com"] } },
        }),
      "`packages`": (client) =>
        client.beta.environments.create({ name: "packed", config: { type: "cloud", packages: { pip: ["pandas"] } } }),
    },
    note: "the folder is in `metadata` (`tandem.path`, `tandem.isolation`, `tandem.branch`), by default a private scratch folder",
  },
  "beta.environments.retrieve": {
    run: (client) => client.beta.environments.retrieve("env_local"),
    note: "`env_local` is built in: the folder that the server was started in",
  },
  "beta.environments.update": {
    run: async (client) => client.beta.environments.update(await made(client, "before"), { name: "after" }),
    variants: {
      "`env_local`": (client) => client.beta.environments.update("env_local", { name: "mine" }),
      "another `config.type`": async (client) =>
        client.beta.environments.update(await made(client, "cloud"), { config: { type: "self_hosted" } }),
    },
  },
  "beta.environments.list": (client) => client.beta.environments.list(),
  "beta.environments.delete": {
    run: async (client) => client.beta.environments.delete(await made(client, "gone")),
    note: "409 while sessions use it",
  },
  "beta.environments.archive": async (client) => client.beta.environments.archive(await made(client, "old")),
};
