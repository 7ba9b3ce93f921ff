import type { Probes, SweepStage } from "../probe.ts";

const child = ({ finished }: SweepStage) => [finished.childThread, { session_id: finished.session }] as const;

export const sessionThreads: Probes = {
  "beta.sessions.threads.retrieve": (client, stage) => client.beta.sessions.threads.retrieve(...child(stage)),
  "beta.sessions.threads.list": (client, stage) => client.beta.sessions.threads.list(stage.finished.session),
  "beta.sessions.threads.archive": {
    run: (client, stage) => client.beta.sessions.threads.archive(...child(stage)),
    note: "only idle threads; 409 for the primary one",
  },
  "beta.sessions.threads.events.list": (client, stage) => client.beta.sessions.threads.events.list(...child(stage)),
  "beta.sessions.threads.events.stream": {
    run: async (client, stage) => {
      const headers = { "last-event-id": "0" };
      const stream = await client.beta.sessions.threads.events.stream(...child(stage), { headers });
      for await (const event of stream) return [event];
      return [];
    },
    note: "as `sessions.events.stream`",
  },
};
