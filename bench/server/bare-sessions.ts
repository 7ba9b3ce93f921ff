// A helper: the peer of real sessions. The bare Agent SDK, one process a conversation; nothing is stored or served.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { query, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { findExecutable } from "@tandem/claude-code";
import { z } from "zod";
import { childVariables, MODEL } from "../runtime/contender.ts";
import { helperTask } from "./helper.ts";
import { nowUs } from "./stamp.ts";
import { measureTalk, talkTask, type Talk } from "./talk.ts";

const task = helperTask(z.object({ ...talkTask.shape, url: z.string(), folder: z.string() }));
const project = join(task.folder, "project");
mkdirSync(project);
const options = {
  cwd: project,
  env: childVariables({ url: task.url, folder: task.folder, concurrency: task.sessions }),
  pathToClaudeCodeExecutable: findExecutable(),
  model: MODEL,
  settingSources: [],
  includePartialMessages: true,
  permissionMode: "dontAsk" as const,
};
await measureTalk(task, converse);

function converse(talk: Talk): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let askedAt: number | undefined;
  let idle = Promise.withResolvers<void>();
  async function* messages(): AsyncGenerator<SDKUserMessage> {
    while (!talk.isOver) {
      askedAt = nowUs();
      yield { type: "user", parent_tool_use_id: null, message: { role: "user", content: "Go on." } };
      await idle.promise;
      idle = Promise.withResolvers<void>();
    }
  }
  const listen = async (): Promise<void> => {
    for await (const message of query({ prompt: messages(), options })) {
      if (message.type === "stream_event" && message.event.type === "content_block_delta") {
        const { delta } = message.event;
        if (delta.type !== "text_delta") continue;
        talk.heard(delta.text, askedAt);
        askedAt = undefined;
        resolve();
      }
      if (message.type !== "result") continue;
      talk.turns += 1;
      idle.resolve();
    }
  };
  listen().catch(reject);
  return promise;
}
