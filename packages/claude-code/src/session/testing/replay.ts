import { readFileSync } from "node:fs";
import { LlmError, type EventId, type LlmErrorCode, type Permission, type ThreadId } from "@tandem/protocol";
import type { ConversationOutput } from "../conversation.ts";
import type { ToolNames } from "../translate/calls.ts";
import type { TranslatorInput } from "../translate/translator-input.ts";
import { Translator } from "../translate/translator.ts";

/** First line of a recording: the session's settings. */
export interface RecordingHead {
  names: ToolNames;
  tools: readonly string[];
  outputExpected: boolean;
  decisions: Record<string, Permission>;
}

export const readRecording = (file: string): unknown[] =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));

/** Feeds a recording through a translator. Ids are sequential, so the output is deterministic. */
export function replay([head, ...inputs]: readonly unknown[]): ConversationOutput[] {
  const { names, tools, outputExpected, decisions } = head as RecordingHead;
  let events = 0;
  const translator = new Translator({
    newEventId: () => `sevt_${++events}` as EventId,
    threadIdOf: (toolUseId) => `sthr_${toolUseId}` as ThreadId,
    primaryThread: "sthr_primary" as ThreadId,
    names,
    outputExpected,
    judge: ({ kind, name, mcpServer }) => {
      const offered = kind === "mcp" ? names.mcpServers.includes(mcpServer ?? "") : tools.includes(name);
      return { permission: offered ? (decisions[name] ?? "allow") : "deny" };
    },
  });
  return inputs.flatMap((input) => translator.accept(revive(input as TranslatorInput)));
}

/** Recordings store an error as its code and message. */
function revive(input: TranslatorInput): TranslatorInput {
  if (input.type !== "ended" || !input.error) return input;
  const { code, message } = input.error as { code: LlmErrorCode; message: string };
  return { ...input, error: new LlmError(code, message) };
}
