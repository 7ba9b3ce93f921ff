import { z } from "zod";
import { documentBlock, imageBlock, toolResultContent, userContent } from "../events/content.ts";
import { filePatch } from "../events/file-patch.ts";
import type { ModelUsage, SessionErrorDetail, Todo } from "../events/session-event.ts";

// What a person sees of a session: messages with parts, as `project` folds them out of its events. Ids are those of the
// events that they come from, so that they are the same wherever a fold begins.

const time = z.string();
const base = {
  id: z.string(),
  /** When it came; null for what waits and for a preview. */
  at: time.nullable(),
};
/** Set while the event is still being produced. The event itself replaces the part, under the same id. */
const preview = z.literal(true).optional();

const textPart = z.strictObject({ type: z.literal("text"), ...base, text: z.string(), preview });

const reasoningPart = z.strictObject({
  type: z.literal("reasoning"),
  ...base,
  /** Empty where only the fact that the model thought is known. */
  text: z.string(),
  signature: z.string().nullable(),
  preview,
});

const redactedReasoningPart = z.strictObject({ type: z.literal("redacted_reasoning"), ...base, data: z.string() });

/** An image or a document that somebody sent. */
const filePart = z.strictObject({ type: z.literal("file"), ...base, file: z.union([imageBlock, documentBlock]) });

const toolPermission = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("asked"), at: time.nullable() }),
  z.strictObject({ type: z.literal("allowed"), by: z.enum(["policy", "person"]), at: time.nullable() }),
  z.strictObject({
    type: z.literal("denied"),
    /** `claude_code` stands for its own rules. */
    by: z.enum(["policy", "person", "claude_code"]),
    reason: z.string().nullable(),
    at: time.nullable(),
  }),
]);

const ended = { started_at: time.nullable(), ended_at: time, output: z.array(toolResultContent) };
const toolState = z.discriminatedUnion("type", [
  /** Its input is being written, or a person has to say whether it may run. */
  z.strictObject({ type: z.literal("pending") }),
  z.strictObject({
    type: z.literal("running"),
    started_at: time.nullable(),
    /** Live only: how long it says that it has been running. */
    elapsed_seconds: z.number().optional(),
  }),
  z.strictObject({ type: z.literal("completed"), ...ended, patch: filePatch.optional() }),
  z.strictObject({
    type: z.literal("error"),
    ...ended,
    patch: filePatch.optional(),
    /** Why there is no result of the tool itself: it may have run wholly, partly or not at all. */
    interrupted: z.enum(["crash", "interrupt", "stopped"]).optional(),
  }),
]);

const toolPart = z.strictObject({
  type: z.literal("tool"),
  ...base,
  /** Kind, name and input are null where the fold began after the call; kind also while it is a preview. */
  kind: z.enum(["builtin", "mcp", "custom"]).nullable(),
  name: z.string().nullable(),
  /** Of the MCP server whose tool it is. */
  server: z.string().optional(),
  /** The id by which the model knows the call. */
  tool_use_id: z.string().optional(),
  input: z.record(z.string(), z.unknown()).nullable(),
  /** As much of the input as there is: JSON that may end anywhere. */
  input_preview: z.string().optional(),
  /** Null where nobody had to decide, and where it is not known. */
  permission: toolPermission.nullable(),
  state: toolState,
  preview,
});

const modelUsage: z.ZodType<ModelUsage> = z.object({
  input_tokens: z.int(),
  output_tokens: z.int(),
  cache_read_input_tokens: z.int(),
  cache_creation_input_tokens: z.int(),
});

/** One model request; it begins a message of the agent. */
const stepPart = z.strictObject({
  type: z.literal("step"),
  ...base,
  state: z.enum(["running", "completed", "error"]),
  model: z.string().nullable(),
  usage: modelUsage.nullable(),
  /** List price, where it is known. */
  usd: z.number().nullable(),
  duration_ms: z.number().nullable(),
});

/** The files that a turn's tools say they changed, at the turn's end. What shell commands changed is not in it. */
const patchPart = z.strictObject({
  type: z.literal("patch"),
  ...base,
  files: z.array(
    z.strictObject({
      path: z.string(),
      kind: z.enum(["create", "update"]),
      /** Lines; null where nobody counted them: a file that was made whole. */
      added: z.int().nullable(),
      removed: z.int(),
      /** Ids of the tool parts that have the hunks. */
      tools: z.array(z.string()),
    }),
  ),
});

const todo: z.ZodType<Todo> = z.strictObject({
  id: z.string(),
  content: z.string(),
  status: z.enum(["pending", "in_progress", "completed"]),
  active_form: z.string().optional(),
});
const todoPart = z.strictObject({ type: z.literal("todo"), ...base, todos: z.array(todo) });

/** A subagent at work. Its id is its thread's; its own messages are under that thread. */
const subtaskPart = z.strictObject({
  type: z.literal("subtask"),
  ...base,
  thread: z.string(),
  agent: z.string().nullable(),
  status: z.enum(["running", "idle", "terminated"]),
  /** Why it is idle. */
  stop_reason: z.string().nullable(),
  /** What it was told and what it answered, in turn. */
  exchange: z.array(z.strictObject({ type: z.enum(["sent", "received"]), content: z.array(userContent) })),
  ended_at: time.nullable(),
});

const errorDetail: z.ZodType<SessionErrorDetail> = z.object({
  type: z.enum([
    "unknown_error",
    "model_overloaded_error",
    "model_rate_limited_error",
    "model_request_failed_error",
    "mcp_connection_failed_error",
    "mcp_authentication_failed_error",
    "billing_error",
    "tool_use_limit_reached_error",
    "compaction_limit_reached_error",
  ]),
  message: z.string(),
  retry_status: z.object({ type: z.enum(["retrying", "exhausted", "terminal"]) }),
  mcp_server_name: z.string().optional(),
  tandem: z.object({ code: z.string(), fix: z.string().optional(), resets_at: z.string().optional() }).optional(),
});

/** A model request that is tried again; further tries in a row update it. */
const retryPart = z.strictObject({
  type: z.literal("retry"),
  ...base,
  attempt: z.int().nullable(),
  max_attempts: z.int().nullable(),
  /** Counted from `at`. */
  delay_ms: z.number().nullable(),
  status: z.int().nullable(),
  reason: z.string(),
  error: errorDetail.optional(),
});

const compactionPart = z.strictObject({
  type: z.literal("compaction"),
  ...base,
  trigger: z.enum(["manual", "auto"]).nullable(),
  tokens_before: z.int().nullable(),
  tokens_after: z.int().nullable(),
});

const errorPart = z.strictObject({ type: z.literal("error"), ...base, error: errorDetail });

/** Why a turn ended otherwise than by the agent's being done. */
const stopPart = z.strictObject({
  type: z.literal("stop"),
  ...base,
  reason: z.enum(["retries_exhausted", "budget_reached", "refusal"]),
  category: z.string().nullable(),
  explanation: z.string().nullable(),
});

const noticePart = z.strictObject({
  type: z.literal("notice"),
  ...base,
  level: z.enum(["info", "warning", "error"]),
  /** The type of the event that it tells of. */
  about: z.string(),
  text: z.string(),
});

/** The object that a turn under an output schema ended with. */
const outputPart = z.strictObject({ type: z.literal("output"), ...base, value: z.unknown() });

/** Somebody asked for the turn to end. */
const interruptionPart = z.strictObject({ type: z.literal("interruption"), ...base });

/** A process or machine died in the middle of a turn. */
const recoveryPart = z.strictObject({
  type: z.literal("recovery"),
  ...base,
  cause: z.string(),
  /** Ids of the tool parts that it closed. */
  closed: z.array(z.string()),
});

export const part = z
  .discriminatedUnion("type", [
    textPart,
    reasoningPart,
    redactedReasoningPart,
    filePart,
    toolPart,
    stepPart,
    patchPart,
    todoPart,
    subtaskPart,
    retryPart,
    compactionPart,
    errorPart,
    stopPart,
    noticePart,
    outputPart,
    interruptionPart,
    recoveryPart,
  ])
  .meta({ id: "Part" });
export type Part = z.infer<typeof part>;
export type PartOf<T extends Part["type"]> = Extract<Part, { type: T }>;

const delivery = z.discriminatedUnion("type", [
  /** In the inbox: no turn has taken it yet. */
  z.strictObject({ type: z.literal("waiting") }),
  z.strictObject({ type: z.literal("taken") }),
  /** It will not be put to the model any more. */
  z.strictObject({ type: z.literal("dropped"), reason: z.string() }),
]);

export const message = z
  .strictObject({
    id: z.string(),
    /**
     * `user`: what was put to the agent; in a subagent's thread, by another agent. `agent`: one model request and what came
     * of it. `session`: what happened beside them.
     */
    role: z.enum(["user", "agent", "session"]),
    /** Null on the session's primary thread. */
    thread: z.string().nullable(),
    /** The message that began the turn; null outside of turns, and where the turn's beginning is not known. */
    turn: z.string().nullable(),
    /** Of the event that it begins with; null for what waits and for previews. */
    seq: z.int().nullable(),
    created_at: time.nullable(),
    parts: z.array(part),
    /** Of user messages. */
    delivery: delivery.optional(),
    /** The `tandem.rewound` event since which the agent does not know of it any more. */
    rewound: z.string().optional(),
  })
  .meta({ id: "Message" });
export type Message = z.infer<typeof message>;
