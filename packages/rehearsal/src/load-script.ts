import { readFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { RehearsalError } from "./rehearsal-error.ts";
import type { Reply } from "./reply.ts";
import { text } from "./reply.ts";
import { replayScript } from "./recording/replay-script.ts";
import type { Script, ScriptEntry } from "./script.ts";

/**
 * Loads a script: a module (`.ts`, `.js`, `.mjs`) with a default export or `script`; a `.json` list of replies, where a
 * string is a text; or a recording (`.jsonl`).
 */
export async function loadScript(path: string): Promise<Script> {
  const full = resolve(path);
  switch (extname(full)) {
    case ".jsonl":
      return replayScript(full);
    case ".json":
      return readJson(full);
    default:
      return importModule(full);
  }
}

async function readJson(path: string): Promise<Script> {
  let content: unknown;
  try {
    content = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw unreadable(path, error instanceof Error ? error.message : String(error), error);
  }
  const parsed = jsonScript.safeParse(content);
  if (!parsed.success) throw unreadable(path, z.prettifyError(parsed.error), parsed.error);
  return parsed.data;
}

async function importModule(path: string): Promise<Script> {
  let module: unknown;
  try {
    module = await import(pathToFileURL(path).href);
  } catch (error) {
    throw unreadable(path, error instanceof Error ? error.message : String(error), error);
  }
  const { default: byDefault, script = byDefault } = z
    .looseObject({ default: z.unknown().optional(), script: z.unknown().optional() })
    .parse(module);
  const parsed = moduleScript.safeParse(script);
  if (!parsed.success) throw unreadable(path, "it exports no list of replies and no function", parsed.error);
  return parsed.data;
}

function unreadable(path: string, reason: string, cause: unknown): RehearsalError {
  const fix = "Export the script by default: a list of replies, or a function from a request to a reply.";
  return new RehearsalError("script_unreadable", `The script ${path} cannot be used: ${reason}`, fix, cause);
}

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

const jsonReply: z.ZodType<Reply> = z.discriminatedUnion("type", [
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

const jsonScript = z.array(z.union([z.string().transform((words): Reply => text(words)), jsonReply]));

/** Only the outline of a module's script is validated. */
const moduleScript = z.custom<Script>(
  (value) => typeof value === "function" || (Array.isArray(value) && value.every((entry: unknown) => isEntry(entry))),
);

function isEntry(entry: unknown): entry is ScriptEntry {
  return typeof entry === "object" && entry !== null && "type" in entry && typeof entry.type === "string";
}
