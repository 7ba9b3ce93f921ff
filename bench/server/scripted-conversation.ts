import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Conversation, ConversationHost, ConversationSetup, TranscriptStore } from "@tandem/claude-code";
import { newId, type ModelUsage, type SessionEventBody } from "@tandem/protocol";
import { nowUs, stamp } from "./stamp.ts";

/** As fast as a quick model talks. */
const TOKEN_MS = 20;
const TOKENS = 50;
const REQUESTS = 2;
const USAGE = {
  input_tokens: 1_204,
  output_tokens: 480,
  cache_read_input_tokens: 18_220,
  cache_creation_input_tokens: 310,
} satisfies ModelUsage;
const OUTPUT = "total 48\ndrwxr-xr-x  7 user user  4096 Nov 12 10:31 .\n".repeat(20);

/**
 * Stands in for Claude Code, where a hundred processes of it would not fit onto the machine: the same outputs in the same
 * order at the pace of a model, with a transcript that is stored. Each turn is two requests with a tool call in between.
 */
export function scriptedConversation(
  setup: ConversationSetup,
  host: ConversationHost,
  transcripts: TranscriptStore,
): Conversation {
  const known = new Set<string>();
  const closing = new AbortController();
  let stored = Promise.resolve();
  let hasBegun = false;

  const event = (body: SessionEventBody, id = newId("event")) => {
    host.onOutput({ type: "event", thread: null, id, event: body });
    return id;
  };
  const keep = (lines: number): void => {
    const line = () => ({ uuid: randomUUID(), type: "assistant", message: { role: "assistant", content: OUTPUT } });
    stored = stored.then(() => transcripts.append("", Array.from({ length: lines }, line)));
  };

  async function request(): Promise<void> {
    const start = event({ type: "span.model_request_start", tandem: { model: setup.model } });
    const id = newId("event");
    host.onOutput({
      type: "delta",
      thread: null,
      delta: { type: "event_start", event: { type: "agent.message", id } },
    });
    let said = "";
    for (let token = 0; token < TOKENS; token += 1) {
      await sleep(TOKEN_MS, undefined, { signal: closing.signal });
      const text = ` ${stamp(token, nowUs())}`;
      said += text;
      const delta = { type: "content_delta" as const, index: 0, content: { type: "text" as const, text } };
      host.onOutput({ type: "delta", thread: null, delta: { type: "event_delta", event_id: id, delta } });
    }
    const message = `msg_${randomUUID()}`;
    event({ type: "agent.message", content: [{ type: "text", text: said }], tandem: { message_id: message } }, id);
    event({
      type: "span.model_request_end",
      model_request_start_id: start,
      is_error: false,
      model_usage: USAGE,
      tandem: { model: setup.model, message_id: message, usd: 0.0141 },
    });
  }

  function callTool(): void {
    const input = { command: "ls -la" };
    const tandem = { tool_use_id: `toolu_${randomUUID()}` };
    const call = event({ type: "agent.tool_use", name: "Bash", input, evaluated_permission: "allow", tandem });
    event({ type: "agent.tool_result", tool_use_id: call, content: [{ type: "text", text: OUTPUT }] });
  }

  async function turn(uuid: string): Promise<void> {
    host.onOutput({ type: "message_taken", uuid });
    if (!hasBegun) event(init(setup));
    hasBegun = true;
    for (let number = 1; number <= REQUESTS; number += 1) {
      await request();
      if (number < REQUESTS) callTool();
      keep(2);
    }
    const total = Object.entries(USAGE).map(([key, value]) => [key, value * REQUESTS]);
    const reported = { [setup.model]: { ...(Object.fromEntries(total) as typeof USAGE), usd: 0.0141 * REQUESTS } };
    host.onOutput({ type: "turn_ended", outcome: { stop: "end_turn", stopDetails: null, reported } });
  }

  return {
    ready: Promise.resolve(),
    pid: undefined,
    exited: Promise.resolve(),
    ended: false,
    send({ uuid }) {
      known.add(uuid);
      // It is closed in the middle of a turn only when all is over.
      turn(uuid).catch(() => undefined);
    },
    adjust: async () => undefined,
    remembers: (uuid) => known.has(uuid),
    takeBack: async () => false,
    interrupt: async () => undefined,
    stopTask: async () => undefined,
    endRun: async () => undefined,
    kept: async () => undefined,
    ranCall: Promise.resolve(),
    caughtUp: async () => undefined,
    flush: () => stored,
    pause: () => undefined,
    unpause: () => undefined,
    async close() {
      closing.abort();
      await stored;
    },
  };
}

const init = (setup: ConversationSetup): SessionEventBody => ({
  type: "tandem.init",
  model: setup.model,
  tools: [...setup.tools],
  mcp_servers: [],
  folder: setup.folder,
  claude_session_id: setup.id,
  claude_code_version: "scripted",
});
