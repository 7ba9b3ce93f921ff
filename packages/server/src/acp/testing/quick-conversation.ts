import type { Conversation, ConversationHost } from "@tandem/claude-code";
import { newId } from "@tandem/protocol";

/**
 * A conversation without a process. It answers each message with one word after the given number of event loop turns,
 * unless it is interrupted. For tests that repeat a scenario hundreds of times.
 */
export function quickConversation(host: ConversationHost, ticks: () => number): Conversation {
  let running: { cut: boolean; ended: Promise<void> } | undefined;
  let ended = false;

  const run = async (uuid: string, turn: { cut: boolean }): Promise<void> => {
    host.onOutput({ type: "message_taken", uuid });
    for (let left = ticks(); left > 0 && !turn.cut; left -= 1) await new Promise((resolve) => setImmediate(resolve));
    if (!turn.cut) {
      const event = { type: "agent.message" as const, content: [{ type: "text" as const, text: "word" }] };
      host.onOutput({ type: "event", thread: null, id: newId("event"), event });
    }
    running = undefined;
    const stop = turn.cut ? "interrupted" : "end_turn";
    host.onOutput({ type: "turn_ended", outcome: { stop, stopDetails: null, reported: {} } });
  };

  return {
    ready: Promise.resolve(),
    pid: undefined,
    exited: Promise.resolve(),
    get ended() {
      return ended;
    },
    send({ uuid }) {
      const turn = { cut: false, ended: Promise.resolve() };
      running = turn;
      turn.ended = run(uuid, turn);
    },
    adjust: async () => undefined,
    remembers: () => true,
    takeBack: async () => false,
    async interrupt() {
      if (!running) return;
      running.cut = true;
      await running.ended;
    },
    stopTask: async () => undefined,
    endRun: async () => undefined,
    kept: async () => undefined,
    ranCall: Promise.resolve(),
    caughtUp: async () => undefined,
    flush: async () => undefined,
    pause: () => undefined,
    unpause: () => undefined,
    async close() {
      if (ended) return;
      ended = true;
      if (running) running.cut = true;
      await running?.ended;
      host.onOutput({ type: "closed", error: undefined });
    },
  };
}
