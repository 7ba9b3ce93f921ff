import type { Probes } from "../probe.ts";

const request = {
  model: "claude-sonnet-5-5",
  max_tokens: 100,
  messages: [{ role: "user" as const, content: "Hello." }],
};
const batch = { requests: [{ custom_id: "one", params: request }] };

/** The Messages API, with and without `beta`. */
export const messages: Probes = {
  "beta.messages.create": (client) => client.beta.messages.create(request),
  "beta.messages.parse": (client) => client.beta.messages.parse(request),
  "beta.messages.stream": (client) => client.beta.messages.stream(request).finalMessage(),
  "beta.messages.countTokens": (client) => client.beta.messages.countTokens(request),
  "beta.messages.toolRunner": (client) => client.beta.messages.toolRunner({ ...request, tools: [] }),
  "beta.messages.thread": (client) =>
    client.beta.messages.thread({ model: request.model, max_tokens: 100 }).send({ role: "user", content: "Hello." }),
  "beta.messages.batches.create": (client) => client.beta.messages.batches.create(batch),
  "messages.create": (client) => client.messages.create(request),
  "messages.parse": (client) => client.messages.parse(request),
  "messages.stream": (client) => client.messages.stream(request).finalMessage(),
  "messages.countTokens": (client) => client.messages.countTokens(request),
  "messages.batches.create": (client) => client.messages.batches.create(batch),
};
