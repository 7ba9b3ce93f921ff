import { z } from "zod";
import { causeOf, MAX_RETRIES, retryDelay } from "./model-failure.ts";
import { ModelFailure, streamModel, type ModelBlock, type ModelEvent, type ModelRequest } from "./stream-model.ts";

export const MAX_OUTPUT_TOKENS = 32_000;

export interface ModelAnswer {
  id: string;
  model: string;
  usage: z.infer<typeof counts>;
  content: readonly ModelBlock[];
  stopReason: string | null;
}

const count = z
  .number()
  .nullish()
  .transform((value) => value ?? 0);
const counts = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
});

interface AskParts {
  model: { url: string; key: string };
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

type Tell = (message: { type: string } & Record<string, unknown>) => void;

/** Asks the model and tells the answer as it arrives, in Claude Code's messages. Repeats failed requests as Claude Code does. */
export async function askModel(
  { model, sleep }: AskParts,
  request: ModelRequest,
  { signal, tell }: { signal: AbortSignal; tell: Tell },
): Promise<ModelAnswer> {
  for (let attempt = 1; ; attempt += 1) {
    tell({ type: "system", subtype: "status", status: "requesting" });
    try {
      return await receive(streamModel(model, request, signal), tell);
    } catch (error) {
      if (!(error instanceof ModelFailure)) throw error;
      const delay = retryDelay(error, attempt);
      if (delay === undefined) throw error;
      tell({
        type: "system",
        subtype: "api_retry",
        attempt,
        max_retries: MAX_RETRIES,
        retry_delay_ms: delay,
        error_status: error.status,
        error: causeOf(error),
      });
      await sleep(delay, signal);
      signal.throwIfAborted();
    }
  }
}

interface Block {
  start: ModelBlock;
  text: string;
}

async function receive(events: AsyncIterable<ModelEvent>, tell: Tell): Promise<ModelAnswer> {
  let answer: Omit<ModelAnswer, "content"> | undefined;
  const blocks = new Map<number, Block>();
  const content: ModelBlock[] = [];
  for await (const event of events) {
    // The whole block comes before the end of its stream, as from Claude Code: both share one event id.
    if (event.type === "content_block_stop") {
      const whole = wholeBlock(blocks.get(event.index));
      if (whole && answer) {
        content.push(whole);
        const { id, model, usage } = answer;
        tell({
          type: "assistant",
          message: { id, model, role: "assistant", usage, stop_reason: null, content: [whole] },
        });
      }
    }
    tell({ type: "stream_event", event });
    switch (event.type) {
      case "message_start": {
        const { id, model, usage } = event.message;
        answer = { id, model, usage: counts.parse(usage), stopReason: null };
        break;
      }
      case "content_block_start":
        blocks.set(event.index, { start: event.content_block, text: "" });
        break;
      case "content_block_delta": {
        const known = blocks.get(event.index);
        if (known) addDelta(known, event.delta);
        break;
      }
      case "message_delta":
        if (answer) {
          const given = Object.entries(event.usage).filter(([, value]) => value !== null);
          answer.usage = counts.parse({ ...answer.usage, ...Object.fromEntries(given) });
          answer.stopReason = event.delta.stop_reason;
        }
        break;
      default:
    }
  }
  if (!answer) throw new ModelFailure("The model's answer had no beginning.");
  return { ...answer, content };
}

const delta = z.object({
  text: z.string().optional(),
  thinking: z.string().optional(),
  partial_json: z.string().optional(),
  signature: z.string().optional(),
});

function addDelta(block: Block, given: ModelBlock): void {
  const { text, thinking, partial_json: json, signature } = delta.parse(given);
  block.text += text ?? thinking ?? json ?? "";
  if (signature !== undefined) block.start = { ...block.start, signature };
}

function wholeBlock(block: Block | undefined): ModelBlock | undefined {
  if (!block) return undefined;
  const { start, text } = block;
  switch (start.type) {
    case "text":
      return { ...start, text };
    case "thinking":
      return { ...start, thinking: text };
    case "tool_use":
      return { ...start, input: text === "" ? {} : z.record(z.string(), z.unknown()).parse(JSON.parse(text)) };
    default:
      return start;
  }
}
