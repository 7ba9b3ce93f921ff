import type Anthropic from "@anthropic-ai/sdk";
import type { Probes } from "../probe.ts";

const made = async (client: Anthropic) => (await client.beta.memoryStores.create({ name: "sweep" })).id;

async function withMemory(client: Anthropic) {
  const memory_store_id = await made(client);
  const memory = await client.beta.memoryStores.memories.create(memory_store_id, { path: "/a.md", content: "one" });
  return { memory, at: { memory_store_id } };
}

export const memoryStores: Probes = {
  "beta.memoryStores.create": (client) => client.beta.memoryStores.create({ name: "sweep", description: "Notes." }),
  "beta.memoryStores.retrieve": async (client) => client.beta.memoryStores.retrieve(await made(client)),
  "beta.memoryStores.update": async (client) =>
    client.beta.memoryStores.update(await made(client), { name: "renamed" }),
  "beta.memoryStores.list": {
    run: (client) => client.beta.memoryStores.list(),
    note: "with a context, the last one is the context's own (`memstore_` and its id), which cannot be archived or deleted",
  },
  "beta.memoryStores.archive": async (client) => client.beta.memoryStores.archive(await made(client)),
  "beta.memoryStores.delete": async (client) => client.beta.memoryStores.delete(await made(client)),
  "beta.memoryStores.memories.create": async (client) =>
    client.beta.memoryStores.memories.create(await made(client), { path: "/a.md", content: "one" }),
  "beta.memoryStores.memories.retrieve": async (client) => {
    const { memory, at } = await withMemory(client);
    return client.beta.memoryStores.memories.retrieve(memory.id, at);
  },
  "beta.memoryStores.memories.update": async (client) => {
    const { memory, at } = await withMemory(client);
    return client.beta.memoryStores.memories.update(memory.id, { ...at, content: "two" });
  },
  "beta.memoryStores.memories.list": async (client) => {
    const { at } = await withMemory(client);
    return client.beta.memoryStores.memories.list(at.memory_store_id, { view: "full" });
  },
  "beta.memoryStores.memories.delete": async (client) => {
    const { memory, at } = await withMemory(client);
    return client.beta.memoryStores.memories.delete(memory.id, at);
  },
  "beta.memoryStores.memoryVersions.retrieve": async (client) => {
    const { memory, at } = await withMemory(client);
    return client.beta.memoryStores.memoryVersions.retrieve(memory.memory_version_id, at);
  },
  "beta.memoryStores.memoryVersions.list": async (client) => {
    const { at } = await withMemory(client);
    return client.beta.memoryStores.memoryVersions.list(at.memory_store_id, { view: "full" });
  },
  "beta.memoryStores.memoryVersions.redact": {
    run: async (client) => {
      const { memory, at } = await withMemory(client);
      await client.beta.memoryStores.memories.update(memory.id, { ...at, content: "two" });
      return client.beta.memoryStores.memoryVersions.redact(memory.memory_version_id, at);
    },
    variants: {
      "the current version": async (client) => {
        const { memory, at } = await withMemory(client);
        return client.beta.memoryStores.memoryVersions.redact(memory.memory_version_id, at);
      },
    },
  },
};
