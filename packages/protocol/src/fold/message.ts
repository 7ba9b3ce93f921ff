import { z } from "zod";
import { documentBlock, imageBlock, toolResultContent, userContent } from "../events/content.ts";
import { programGrader } from "../events/define-outcome.ts";
import { filePatch } from "../events/file-patch.ts";
import { sessionErrorDetail } from "../events/session-error.ts";
import { codeDiagnostic } from "../events/code-diagnostic.ts";
import { modelUsage } from "../events/model-usage.ts";
import { todo } from "../events/todo.ts";
import { TOOL_CALL_STATES } from "../words.ts";

// Messages with parts, folded from events by `project`, as the user interface shows them. Ids come from the events, so they are
// the same wherever a fold starts.

const time = z.string();
const base = {
  id: z.string(),
  /** Null for waiting messages and previews. */
  at: time.nullable(),
};
/** Set while the event is incomplete. The event replaces the part under the same id. */
const preview = z.literal(true).optional();

const textPart = z.strictObject({ type: z.literal("text"), ...base, text: z.string(), preview });

const reasoningPart = z.strictObject({
  type: z.literal("reasoning"),
  ...base,
  /** Empty if only the fact of thinking is known. */
  text: z.string(),
  signature: z.string().nullable(),
  preview,
});

const redactedReasoningPart = z.strictObject({ type: z.literal("redacted_reasoning"), ...base, data: z.string() });

/** An image or a document in a message. */
const filePart = z.strictObject({ type: z.literal("file"), ...base, file: z.union([imageBlock, documentBlock]) });

const toolPermission = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("asked"), at: time.nullable() }),
  z.strictObject({ type: z.literal("allowed"), by: z.enum(["policy", "person"]), at: time.nullable() }),
  z.strictObject({
    type: z.literal("denied"),
    /** `claude_code` means its own rules. */
    by: z.enum(["policy", "person", "claude_code"]),
    reason: z.string().nullable(),
    at: time.nullable(),
  }),
]);

const ended = { started_at: time.nullable(), ended_at: time, output: z.array(toolResultContent) };
const toolState = z.discriminatedUnion("type", [
  /** Its input is incomplete, or it awaits approval. */
  z.strictObject({ type: z.literal("pending") }),
  z.strictObject({
    type: z.literal("running"),
    started_at: time.nullable(),
    /** Live only: the running time that the tool reports. */
    elapsed_seconds: z.number().optional(),
  }),
  z.strictObject({ type: z.literal("completed"), ...ended, patch: filePatch.optional() }),
  z.strictObject({
    type: z.literal("error"),
    ...ended,
    patch: filePatch.optional(),
    /** Why the tool's own result is missing: it may have run completely, partly or not at all. */
    interrupted: z.enum(["crash", "interrupt", "stopped"]).optional(),
  }),
]);

const toolPart = z.strictObject({
  type: z.literal("tool"),
  ...base,
  /** Kind, name and input are null if the fold started after the call; kind is also null in a preview. */
  kind: z.enum(["builtin", "mcp", "custom"]).nullable(),
  name: z.string().nullable(),
  /** The MCP server of the tool. */
  server: z.string().optional(),
  /** The call's id in the model API. */
  tool_use_id: z.string().optional(),
  input: z.record(z.string(), z.unknown()).nullable(),
  /** The partial input: JSON that may be cut anywhere. */
  input_preview: z.string().optional(),
  /** Null if no decision was needed, or if it is unknown. */
  permission: toolPermission.nullable(),
  /** The last `tandem.tool_state` of a call that a person was asked about. */
  call_state: z.enum(TOOL_CALL_STATES).optional(),
  state: toolState,
  /** Errors that an edit added, by a language server; `total` counts those that are left out, too. */
  diagnostics: z.strictObject({ server: z.string(), items: z.array(codeDiagnostic), total: z.int() }).optional(),
  preview,
});

/** One model request; it starts an agent message. */
const stepPart = z.strictObject({
  type: z.literal("step"),
  ...base,
  state: z.enum(["running", "completed", "error"]),
  model: z.string().nullable(),
  usage: modelUsage.nullable(),
  /** The list price, if known. */
  usd: z.number().nullable(),
  duration_ms: z.number().nullable(),
});

/** Files changed by a turn's file tools, added at the end of the turn. Changes by shell commands are not included. */
const patchPart = z.strictObject({
  type: z.literal("patch"),
  ...base,
  files: z.array(
    z.strictObject({
      path: z.string(),
      kind: z.enum(["create", "update"]),
      /** Lines; null if not counted, as for a new file. */
      added: z.int().nullable(),
      removed: z.int(),
      /** Ids of the tool parts that contain the hunks. */
      tools: z.array(z.string()),
    }),
  ),
});

const todoPart = z.strictObject({ type: z.literal("todo"), ...base, todos: z.array(todo) });

/** A running subagent. Its id is its thread's id; its messages are on that thread. */
const subtaskPart = z.strictObject({
  type: z.literal("subtask"),
  ...base,
  thread: z.string(),
  agent: z.string().nullable(),
  status: z.enum(["running", "idle", "terminated"]),
  /** The reason why it is idle. */
  stop_reason: z.string().nullable(),
  /** Messages sent to it and received from it, in order. */
  exchange: z.array(z.strictObject({ type: z.enum(["sent", "received"]), content: z.array(userContent) })),
  ended_at: time.nullable(),
  /** Its list price so far, known at the end of a turn. */
  usd: z.number().optional(),
});

/** An agent of a workflow run. Its messages are on its thread. */
const workflowAgent = z.strictObject({
  thread: z.string(),
  label: z.string(),
  /** The id of its phase. */
  phase: z.string().nullable(),
  /** `waiting`: a call needs an approval or a result. */
  state: z.enum(["running", "waiting", "ended", "failed"]),
  error: z.string().nullable(),
  started_at: time.nullable(),
  ended_at: time.nullable(),
  /** Its list price so far, known when it rests. */
  usd: z.number().nullable(),
});

/** A workflow run. Its id is the run's id. */
const workflowPart = z.strictObject({
  type: z.literal("workflow"),
  ...base,
  /** Null if the run began before these messages. */
  name: z.string().nullable(),
  state: z.enum(["running", "completed", "stopped", "failed"]),
  error: z.string().nullable(),
  ended_at: time.nullable(),
  phases: z.array(z.strictObject({ id: z.string(), name: z.string(), state: z.enum(["pending", "running", "ended"]) })),
  agents: z.array(workflowAgent),
});

/** A retried model request; consecutive retries update it. */
const retryPart = z.strictObject({
  type: z.literal("retry"),
  ...base,
  attempt: z.int().nullable(),
  max_attempts: z.int().nullable(),
  /** Measured from `at`. */
  delay_ms: z.number().nullable(),
  status: z.int().nullable(),
  reason: z.string(),
  error: sessionErrorDetail.optional(),
});

const compactionPart = z.strictObject({
  type: z.literal("compaction"),
  ...base,
  trigger: z.enum(["manual", "auto"]).nullable(),
  tokens_before: z.int().nullable(),
  tokens_after: z.int().nullable(),
});

const errorPart = z.strictObject({ type: z.literal("error"), ...base, error: sessionErrorDetail });

/** Why a turn ended before the agent finished. */
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
  /** The type of the event that it reports. */
  about: z.string(),
  text: z.string(),
  /** The host that the sandbox refused, if a person can allow it. */
  host: z.string().optional(),
});

/** The object that a turn with an output schema returned. */
const outputPart = z.strictObject({ type: z.literal("output"), ...base, value: z.unknown() });

/** An interrupt request. */
const interruptionPart = z.strictObject({ type: z.literal("interruption"), ...base });

/** A process or machine died during a turn. */
const recoveryPart = z.strictObject({
  type: z.literal("recovery"),
  ...base,
  cause: z.string(),
  /** Ids of the tool parts that the recovery closed. */
  closed: z.array(z.string()),
});

/** The outcome that a user message defines. */
const outcomePart = z.strictObject({
  type: z.literal("outcome"),
  ...base,
  outcome_id: z.string(),
  description: z.string(),
  rubric: z.string(),
  max_iterations: z.int(),
  /** Replaces the model as grader. */
  grader: programGrader.optional(),
});

/** An evaluation of an outcome. Its id is the one of the event that started it. */
const evaluationPart = z.strictObject({
  type: z.literal("evaluation"),
  ...base,
  outcome_id: z.string(),
  iteration: z.int(),
  /** `cut_off`: it ended without a verdict, and is repeated. */
  state: z.enum([
    "running",
    "cut_off",
    "satisfied",
    "needs_revision",
    "max_iterations_reached",
    "failed",
    "interrupted",
  ]),
  explanation: z.string().nullable(),
  usage: modelUsage.nullable(),
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
    workflowPart,
    retryPart,
    compactionPart,
    errorPart,
    stopPart,
    noticePart,
    outputPart,
    interruptionPart,
    recoveryPart,
    outcomePart,
    evaluationPart,
  ])
  .meta({ id: "Part" });
export type Part = z.infer<typeof part>;
export type PartOf<T extends Part["type"]> = Extract<Part, { type: T }>;

const delivery = z.discriminatedUnion("type", [
  /** In the input queue: no turn has taken it yet. */
  z.strictObject({ type: z.literal("waiting") }),
  z.strictObject({ type: z.literal("taken") }),
  /** It will not be sent to the model. */
  z.strictObject({ type: z.literal("dropped"), reason: z.string() }),
]);

export const message = z
  .strictObject({
    id: z.string(),
    /**
     * `user`: input to the agent; in a subagent's thread, from another agent. `agent`: one model request and its results.
     * `session`: other events.
     */
    role: z.enum(["user", "agent", "session"]),
    /** Null on the session's primary thread. */
    thread: z.string().nullable(),
    /** The message that started the turn; null outside turns, and if the start is unknown. */
    turn: z.string().nullable(),
    /** The sequence number of its first event; null for waiting messages and previews. */
    seq: z.int().nullable(),
    created_at: time.nullable(),
    parts: z.array(part),
    /** Only on user messages. */
    delivery: delivery.optional(),
    /** The `tandem.rewound` event that removed it from the agent's context. */
    rewound: z.string().optional(),
  })
  .meta({ id: "Message" });
export type Message = z.infer<typeof message>;
