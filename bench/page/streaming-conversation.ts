import type { Conversation, ConversationHost, ConversationSetup } from "@tandem/claude-code";
import { newId, type ModelUsage, type SessionEventBody } from "@tandem/protocol";
import { pace } from "../server/pace.ts";

/** Stands in a delta for its number, where a browser can find it again among the words. */
const mark = (number: number): string => ` §${number};`;
const WORDS = ["and the", " ledger", " says that", " nothing", " is open", " any more"];
const USAGE: ModelUsage = {
  input_tokens: 1_204,
  output_tokens: 1_600,
  cache_read_input_tokens: 18_220,
  cache_creation_input_tokens: 310,
};

/** Text like a model's: words, and at times a new paragraph, a list or code. */
function wordsOf(number: number): string {
  const words = `${WORDS[number % WORDS.length]!}${mark(number)}`;
  if (number % 120 === 60) return `\n\n\`\`\`ts\nconst open = await ledger.open();\n\`\`\`\n\n${words}`;
  if (number % 40 === 20) return `\n\n- ${words}`;
  return number % 40 === 39 ? `${words}\n\n` : words;
}

/** Stands in for Claude Code: answers every message with deltas at that pace, and tells when each was due. */
export const streamingConversation =
  (
    { perSecond, seconds }: { perSecond: number; seconds: number },
    onDone: (begunAt: number, sent: number) => void,
  ): ((setup: ConversationSetup, host: ConversationHost) => Conversation) =>
  (setup, host) => {
    const event = (body: SessionEventBody, id = newId("event")) => {
      host.onOutput({ type: "event", thread: null, id, event: body });
      return id;
    };

    async function turn(uuid: string): Promise<void> {
      host.onOutput({ type: "message_taken", uuid });
      const start = event({ type: "span.model_request_start", tandem: { model: setup.model } });
      const id = newId("event");
      host.onOutput({
        type: "delta",
        thread: null,
        delta: { type: "event_start", event: { type: "agent.message", id } },
      });
      let said = "";
      const begunAt = performance.timeOrigin + performance.now();
      const sent = await pace({ perSecond, seconds }, (number) => {
        const text = wordsOf(number);
        said += text;
        const delta = { type: "content_delta" as const, index: 0, content: { type: "text" as const, text } };
        host.onOutput({ type: "delta", thread: null, delta: { type: "event_delta", event_id: id, delta } });
      });
      onDone(begunAt, sent);
      event(
        { type: "agent.message", content: [{ type: "text", text: said }], tandem: { message_id: "msg_streamed" } },
        id,
      );
      event({
        type: "span.model_request_end",
        model_request_start_id: start,
        is_error: false,
        model_usage: USAGE,
        tandem: { model: setup.model, message_id: "msg_streamed", usd: 0.0241 },
      });
      const reported = { [setup.model]: { ...USAGE, usd: 0.0241 } };
      host.onOutput({ type: "turn_ended", outcome: { stop: "end_turn", stopDetails: null, reported } });
    }

    return {
      ready: Promise.resolve(),
      pid: undefined,
      exited: Promise.resolve(),
      ended: false,
      send({ uuid }) {
        turn(uuid).catch((error: unknown) => console.error(error));
      },
      adjust: async () => undefined,
      remembers: () => false,
      takeBack: async () => false,
      interrupt: async () => undefined,
      stopTask: async () => undefined,
      endRun: async () => undefined,
      kept: async () => undefined,
      ranCall: Promise.resolve(),
      caughtUp: async () => undefined,
      flush: async () => undefined,
      pause: () => undefined,
      unpause: () => undefined,
      close: async () => undefined,
    };
  };
