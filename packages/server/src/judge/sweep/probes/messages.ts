import { always, text, when } from "@tandem/rehearsal";
import type { Call, Probe, Probes } from "../probe.ts";

const request = {
  model: "claude-sonnet-5-5",
  max_tokens: 100,
  messages: [{ role: "user" as const, content: "Hello." }],
};
const batch = { requests: [{ custom_id: "one", params: request }] };

/** With a reply for this request only: sessions of other probes may still run. */
const answered = (call: Call): Probe => ({
  run: (client, stage) => {
    const isOurs = when(
      ({ toolNames, lastUserText }) => toolNames.length === 0 && lastUserText === "Hello.",
      text("Hello."),
    );
    stage.rehearsal.use([always(isOurs)]);
    return call(client, stage);
  },
  note: "on the backends `anthropic`, `vertex` and `gateway`; 400 on a Claude login",
});

/** The Messages API, with and without `beta`. */
export const messages: Probes = {
  "beta.messages.create": answered((client) => client.beta.messages.create(request)),
  "beta.messages.parse": answered((client) => client.beta.messages.parse(request)),
  "beta.messages.stream": answered((client) => client.beta.messages.stream(request).finalMessage()),
  "beta.messages.countTokens": answered((client) => client.beta.messages.countTokens(request)),
  "beta.messages.toolRunner": answered((client) => client.beta.messages.toolRunner({ ...request, tools: [] })),
  "beta.messages.thread": answered((client) =>
    client.beta.messages.thread({ model: request.model, max_tokens: 100 }).send({ role: "user", content: "Hello." }),
  ),
  "beta.messages.batches.create": (client) => client.beta.messages.batches.create(batch),
  "messages.create": answered((client) => client.messages.create(request)),
  "messages.parse": answered((client) => client.messages.parse(request)),
  "messages.stream": answered((client) => client.messages.stream(request).finalMessage()),
  "messages.countTokens": answered((client) => client.messages.countTokens(request)),
  "messages.batches.create": (client) => client.messages.batches.create(batch),
};
