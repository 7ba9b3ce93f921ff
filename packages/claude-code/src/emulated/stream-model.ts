import { readFrames } from "@tandem/protocol";
import { z } from "zod";

/** A request to Anthropic's Messages API. */
export interface ModelRequest {
  model: string;
  max_tokens: number;
  system: string;
  messages: readonly ModelMessage[];
  tools: readonly { name: string; description: string; input_schema: Record<string, unknown> }[];
}

export interface ModelMessage {
  role: "user" | "assistant";
  content: readonly ModelBlock[];
}

const block = z.looseObject({ type: z.string() });
export type ModelBlock = z.infer<typeof block>;

const usage = z.looseObject({});

/** The events of a streamed answer that an agent loop needs; others are passed over. */
const streamEvent = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("message_start"),
    message: z.looseObject({ id: z.string(), model: z.string(), usage }),
  }),
  z.looseObject({ type: z.literal("content_block_start"), index: z.number(), content_block: block }),
  z.looseObject({ type: z.literal("content_block_delta"), index: z.number(), delta: block }),
  z.looseObject({ type: z.literal("content_block_stop"), index: z.number() }),
  z.looseObject({
    type: z.literal("message_delta"),
    delta: z.looseObject({ stop_reason: z.string().nullable() }),
    usage,
  }),
  z.looseObject({ type: z.literal("message_stop") }),
]);
export type ModelEvent = z.infer<typeof streamEvent>;

const failure = z.object({ error: z.object({ type: z.string(), message: z.string() }) });

/** A request that failed. Without a status, the connection did. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  readonly status: number | null;
  readonly type: string;
  readonly headers: Headers;

  constructor(message: string, { status, type, headers }: { status?: number; type?: string; headers?: Headers } = {}) {
    super(message);
    this.status = status ?? null;
    this.type = type ?? "api_error";
    this.headers = headers ?? new Headers();
  }
}

/** Streams the model's answer. Throws a `ModelFailure`, or the signal's reason. */
export async function* streamModel(
  { url, key }: { url: string; key: string },
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  try {
    const response = await fetch(`${url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": key, "anthropic-version": "2023-06-01" },
      body: JSON.stringify({ ...request, stream: true }),
      signal,
    });
    if (!response.ok || !response.body) throw await readFailure(response);
    yield* readStream(response.body);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ModelFailure) throw error;
    throw new ModelFailure(`The connection to the model failed: ${reasonOf(error)}`);
  }
}

async function* readStream(body: ReadableStream<Uint8Array>): AsyncGenerator<ModelEvent> {
  let isComplete = false;
  for await (const { name, data } of readFrames(body)) {
    if (name === "error") throw streamFailure(data);
    const parsed = streamEvent.safeParse(JSON.parse(data)).data;
    if (!parsed) continue;
    isComplete ||= parsed.type === "message_stop";
    yield parsed;
  }
  if (!isComplete) throw new ModelFailure("The connection to the model closed before the answer was complete.");
}

const STATUS_OF: Record<string, number> = { overloaded_error: 529, rate_limit_error: 429, api_error: 500 };

function streamFailure(data: string): ModelFailure {
  const { type, message } = failure.safeParse(JSON.parse(data)).data?.error ?? { type: "api_error", message: data };
  return new ModelFailure(message, { type, status: STATUS_OF[type] ?? 500 });
}

async function readFailure(response: Response): Promise<ModelFailure> {
  const text = await response.text();
  const { type, message } = readError(text) ?? { type: "api_error", message: text };
  return new ModelFailure(message, { status: response.status, type, headers: response.headers });
}

function readError(text: string): { type: string; message: string } | undefined {
  try {
    return failure.safeParse(JSON.parse(text)).data?.error;
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
