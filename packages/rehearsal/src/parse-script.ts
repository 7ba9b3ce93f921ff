import { z } from "zod";
import { fail } from "./fault.ts";
import type { Reply } from "./reply.ts";
import { text, toolUse } from "./reply.ts";
import { always, type Script, type ScriptEntry, times, when } from "./script.ts";

const usage = z.strictObject({
  input_tokens: z.number().optional(),
  output_tokens: z.number().optional(),
  cache_read_input_tokens: z.number().optional(),
  cache_creation_input_tokens: z.number().optional(),
  cache_creation: z
    .strictObject({
      ephemeral_5m_input_tokens: z.number().optional(),
      ephemeral_1h_input_tokens: z.number().optional(),
    })
    .optional(),
  server_tool_use: z
    .strictObject({ web_search_requests: z.number().optional(), web_fetch_requests: z.number().optional() })
    .optional(),
});

const options = z.strictObject({
  usage: usage.optional(),
  stopReason: z
    .enum([
      "end_turn",
      "max_tokens",
      "stop_sequence",
      "tool_use",
      "pause_turn",
      "refusal",
      "model_context_window_exceeded",
    ])
    .optional(),
  stopSequence: z.string().optional(),
  model: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  pace: z.strictObject({ firstByteMs: z.number().optional(), tokenMs: z.number().optional() }).optional(),
});

const block = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string() }),
  z.strictObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() }),
  z.strictObject({ type: z.literal("redacted_thinking"), data: z.string() }),
  z.strictObject({
    type: z.literal("tool_use"),
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
    id: z.string().optional(),
  }),
]);

const wholeReply: z.ZodType<Reply> = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("message"), content: z.array(block), options: options.default({}) }),
  z.strictObject({
    type: z.literal("error"),
    status: z.number().int().min(400).max(599),
    errorType: z.string().default("api_error"),
    message: z.string().default("Rehearsed failure."),
    headers: z.record(z.string(), z.string()).default({}),
  }),
  z.strictObject({
    type: z.enum(["stall", "cut", "malformed", "stream_error"]),
    afterText: z.string().optional(),
    error: z.strictObject({ type: z.string(), message: z.string() }).optional(),
  }),
]);

/** How often an entry is used, and for which requests. */
const conditions = {
  /** The entry fits only if the last message of the user contains this. */
  when: z.string().optional(),
  /** A number, or `always`. Default: once. */
  times: z.union([z.int().positive(), z.literal("always")]).optional(),
};

const entry = z.union([
  z.string().transform((words): ScriptEntry => text(words)),
  wholeReply,
  z
    .strictObject({ text: z.string(), usage: usage.optional(), ...conditions })
    .transform(({ text: words, usage: tokens, ...rest }) =>
      conditional(text(words, tokens && { usage: tokens }), rest),
    ),
  z
    .strictObject({ tool: z.string(), input: z.record(z.string(), z.unknown()).default({}), ...conditions })
    .transform(({ tool, input, ...rest }) => conditional(toolUse(tool, input), rest)),
  z
    .strictObject({ error: z.int().min(400).max(599), message: z.string().optional(), ...conditions })
    .transform(({ error, message, ...rest }) =>
      conditional(fail(error, message === undefined ? {} : { message }), rest),
    ),
]);

const script = z.array(entry);

/**
 * A script as plain data, from JSON or YAML: a list of texts, whole replies, or short forms (`{text}`, `{tool, input}`,
 * `{error}`), which may have `when` and `times`. Throws an error that names the wrong entry.
 */
export function parseScript(data: unknown): Script {
  const parsed = script.safeParse(data);
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error), { cause: parsed.error });
  return parsed.data;
}

function conditional(
  reply: Reply,
  { when: words, times: uses }: { when?: string | undefined; times?: number | "always" | undefined },
): ScriptEntry {
  const fitting = words === undefined ? reply : when(({ lastUserText }) => lastUserText.includes(words), reply);
  if (uses === undefined) return fitting;
  return uses === "always" ? always(fitting) : times(uses, fitting);
}
