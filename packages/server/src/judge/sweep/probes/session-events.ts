import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import type { EventSendParams } from "@anthropic-ai/sdk/resources/beta/sessions/events";
import { text, toolUse } from "@tandem/rehearsal";
import { z } from "zod";
import type { Call, Probes } from "../probe.ts";

type Event = EventSendParams["events"][number];

/** To a session without a turn, which an interrupt or a refused event leaves as it is. */
const send =
  (event: Event): Call =>
  async (client, stage) => {
    const session = await stage.session();
    const answer = await client.beta.sessions.events.send(session, { events: [event] });
    // An outcome starts a turn, which would take the replies that later probes prepare.
    await client.beta.sessions.archive(session);
    return answer;
  };

const content = (words: string) => [{ type: "text" as const, text: words }];

const WEATHER = {
  type: "custom" as const,
  name: "weather",
  description: "The weather.",
  input_schema: { type: "object" as const, properties: {} },
};

export const sessionEvents: Probes = {
  "beta.sessions.events.list": {
    run: (client, stage) => client.beta.sessions.events.list(stage.finished.session),
    note: "`tandem.` events are among them, except for the SDK's tool runner",
  },
  "beta.sessions.events.send": {
    run: send({ type: "user.interrupt" }),
    variants: {
      "`user.tool_result`": send({ type: "user.tool_result", tool_use_id: "sevt_none", content: content("x") }),
      "`user.define_outcome`": send({
        type: "user.define_outcome",
        description: "Done.",
        rubric: { type: "text", content: "It is done." },
      }),
      "`system.message`": send({ type: "system.message", content: content("Be brief.") }),
    },
    note: "a try that the client repeats by itself is stored once",
  },
  "beta.sessions.events.stream": {
    run: async (client, stage) => {
      const headers = { "last-event-id": "0" };
      const stream = await client.beta.sessions.events.stream(stage.finished.session, {}, { headers });
      const seen = [];
      for await (const event of stream) {
        seen.push(event);
        if (event.type === "session.status_idle") break;
      }
      return seen;
    },
    note: "also resumes after `Last-Event-ID`; more previews and events with `tandem=true`",
  },
  "beta.sessions.events.toolRunner": {
    run: async (client, stage) => {
      const tool = betaZodTool({
        name: "weather",
        description: "The weather.",
        inputSchema: z.object({}),
        run: () => "sun",
      });
      stage.rehearsal.use([toolUse("mcp__tandem__weather", {}), text("It shines.")]);
      const session = await stage.session({}, { tools: [WEATHER] });
      await stage.say(session, "How is the weather?");
      const results = [];
      for await (const done of client.beta.sessions.events.toolRunner(session, { tools: [tool], maxIdleMs: 2_000 })) {
        results.push(done);
      }
      if (results.length !== 1) throw new Error("The tool did not run.");
    },
    note: "for custom tools",
  },
};
