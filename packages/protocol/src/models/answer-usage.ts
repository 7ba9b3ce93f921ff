import { z } from "zod";
import { parseJson } from "../parse-json.ts";
import { FrameParser } from "../read-frames.ts";
import type { PassedAnswer } from "./messages-proxy.ts";
import { noUsage, type Usage } from "./usage.ts";

const count = z.number().int().min(0).catch(0);
const wireUsage = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  cache_creation: z
    .object({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count })
    .nullish()
    .catch(null),
  server_tool_use: z.object({ web_search_requests: count }).nullish().catch(null),
});
const fields = z.record(z.string(), z.unknown());
const message = z.object({ id: z.string().optional().catch(undefined), model: z.string(), usage: fields });
const frame = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message_start"), message }),
  z.object({ type: z.literal("message_delta"), usage: fields }),
  z.object({ type: z.literal("content_block_delta"), delta: fields }),
]);

/** Fewer characters than most tokens have, because an answer that broke off must not be counted too low. */
const CHARACTERS_PER_TOKEN = 3;

/** Reads the usage of an answer from its bytes as they pass, as JSON or as a stream. */
export class AnswerUsage {
  readonly #frames: FrameParser | undefined;
  readonly #decoder = new TextDecoder();
  #text = "";
  #messageId: string | undefined;
  #model: string | undefined;
  #counts: Record<string, unknown> = {};
  /** Characters of a stream since its last count of output tokens. */
  #uncounted = 0;

  constructor(contentType: string) {
    if (contentType.startsWith("text/event-stream")) this.#frames = new FrameParser();
  }

  add(chunk: Uint8Array): void {
    if (this.#frames) for (const { data } of this.#frames.feed(chunk)) this.#frame(parseJson(data));
    else this.#text += this.#decoder.decode(chunk, { stream: true });
  }

  end(): void {
    if (this.#frames) return;
    const parsed = message.safeParse(parseJson(this.#text)).data;
    if (parsed) this.#begin(parsed);
  }

  get messageId(): string | undefined {
    return this.#messageId;
  }

  get reading(): ReturnType<PassedAnswer["usage"]> {
    if (this.#model === undefined) return undefined;
    const usage = toUsage(this.#counts);
    const outputTokens = usage.outputTokens + Math.ceil(this.#uncounted / CHARACTERS_PER_TOKEN);
    return { model: this.#model, usage: { ...usage, outputTokens } };
  }

  #begin({ id, model, usage }: z.infer<typeof message>): void {
    this.#messageId = id;
    this.#model = model;
    this.#counts = usage;
  }

  #frame(raw: unknown): void {
    const parsed = frame.safeParse(raw).data;
    switch (parsed?.type) {
      case "message_start":
        this.#begin(parsed.message);
        break;
      case "message_delta":
        // Its counts are totals, and it may leave out those that did not change.
        this.#counts = { ...this.#counts, ...withoutNulls(parsed.usage) };
        this.#uncounted = 0;
        break;
      case "content_block_delta":
        for (const value of Object.values(parsed.delta)) if (typeof value === "string") this.#uncounted += value.length;
        break;
      case undefined:
    }
  }
}

function toUsage(counts: Record<string, unknown>): Usage {
  const parsed = wireUsage.safeParse(counts).data;
  if (!parsed) return noUsage();
  const hour = parsed.cache_creation?.ephemeral_1h_input_tokens ?? 0;
  return {
    inputTokens: parsed.input_tokens,
    outputTokens: parsed.output_tokens,
    cacheReadTokens: parsed.cache_read_input_tokens,
    cacheWrite5mTokens: Math.max(0, parsed.cache_creation_input_tokens - hour),
    cacheWrite1hTokens: hour,
    webSearches: parsed.server_tool_use?.web_search_requests ?? 0,
  };
}

const withoutNulls = (counts: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== null));
