import { z } from "zod";
import { sessionAgent } from "../api/agents/agents.ts";
import { eventType } from "../api/sessions/session-events.ts";
import { typed } from "../api/typed.ts";
import { rule } from "../config/rule.ts";
import { programGrader } from "../events/define-outcome.ts";
import type { LoggedEvent } from "../events/session-event.ts";
import { budget } from "../events/usage-snapshot.ts";
import { PERMISSION_MODES, RULE_SCOPES } from "../words.ts";

// A cassette is one session as data. API, for `cassettes test`, `fork`, comparisons and the page:
//
//   engine.history.cassette(session)   `GET /v1/sessions/:id/cassette`, any session in any state     packages/sessions
//   formatCassette(cassette): string   the file: one JSON object per line, stable order of keys      cassette-file.ts
//   parseCassette(text): Cassette      throws a TandemError (`cassette_damaged`, `cassette_newer`)   cassette-file.ts
//   stepsOf(events): CassetteStep[]    the steps of an event log                                     steps-of.ts
//   normaliseSteps(steps, how)         what two runs are compared by                                 normalise-steps.ts
//   findDivergence(expected, actual)   the first step that differs; undefined if none does           find-divergence.ts
//   resultChecksum(content): string    for a fork that changes the result of a call                  result-checksum.ts
//   replayCassette(cassette, options)  runs it again and compares                                    packages/emulator
//
// The first four are pure, and all but `parseCassette` and the schemas below work without zod, in the page too. A cassette is
// plain data: a fork is a copy with fewer or other steps and without events. `replayCassette` drives a run from the steps
// alone, and compares steps with events only if there are events.

export const CASSETTE_VERSION = 1;

/** Stands for the absolute path of the session's folder in every text of a cassette. */
export const FOLDER_MARK = "<session-folder>";

/** Stands for Claude Code's folder for plans. */
export const PLANS_MARK = "<plans-folder>";

/** An event in its place in the log. Its fields pass unchanged, also those of other versions. */
export const cassetteEvent = typed<LoggedEvent>()(
  z.object({
    seq: z.int(),
    thread: z.string().nullable(),
    event: z.looseObject({ type: eventType, id: z.string(), processed_at: z.string().nullable() }),
  }),
);

/** A content block of Anthropic's Messages API. */
const block = z.looseObject({ type: z.string() });
export type CassetteBlock = z.infer<typeof block>;

const thread = z
  .string()
  .optional()
  .describe("The call that started the subagent, or a number; absent on the primary thread.");

const place = {
  step: z.int().min(1),
  thread,
  seq: z.int().describe("The position of its first event in the log."),
};

const tokens = z.object({
  input_tokens: z.int(),
  output_tokens: z.int(),
  cache_read_input_tokens: z.int(),
  cache_creation_input_tokens: z.int(),
  cache_write_5m_tokens: z.int().optional(),
  cache_write_1h_tokens: z.int().optional(),
});

/** Client events name a call by the model's id (`toolu_…`), which a replay keeps; the ids of events are new in every run. */
const inputEvent = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("user.message"),
    content: z.array(block),
    delivery: z.enum(["queue", "steer"]).optional(),
    model: z.string().optional(),
    effort: z.string().optional(),
    commands: z.boolean().optional(),
  }),
  z.object({ type: z.literal("system.message"), content: z.array(block) }),
  z.object({ type: z.literal("user.interrupt") }),
  z.object({
    type: z.literal("user.tool_confirmation"),
    call: z.string(),
    result: z.enum(["allow", "deny"]),
    deny_message: z.string().optional(),
    scope: z.enum(["once", "session", "always"]).optional(),
    save_for: z.enum(["user", "project", "agent"]).optional(),
    rule: rule.optional(),
    input: z.record(z.string(), z.unknown()).optional(),
    mode: z.enum(PERMISSION_MODES).optional(),
  }),
  z.object({
    type: z.literal("user.custom_tool_result"),
    call: z.string(),
    content: z.array(block),
    is_error: z.boolean(),
  }),
  /** A worker of a self-hosted environment ran the call. */
  z.object({ type: z.literal("user.tool_result"), call: z.string(), content: z.array(block), is_error: z.boolean() }),
  z.object({
    type: z.literal("user.define_outcome"),
    description: z.string(),
    rubric: z.object({ type: z.literal("text"), content: z.string() }),
    max_iterations: z.int().nullable(),
    grader: programGrader.optional(),
  }),
  /** A grader's verdict. A replay gives it in the grader's place. */
  z.object({
    type: z.literal("span.outcome_evaluation_end"),
    iteration: z.int(),
    result: z.enum(["satisfied", "needs_revision", "max_iterations_reached", "failed", "interrupted"]),
    explanation: z.string(),
    requests: z.array(z.object({ model: z.string().nullable(), usage: tokens })),
  }),
  z.object({
    type: z.literal("tandem.rewound"),
    scope: z.enum(["files", "conversation", "both"]),
    /** The number of the prompt in the log that the session now continues before; null if a rewind was undone. */
    prompt: z.int().nullable(),
  }),
  /** Claude Code replaced the conversation by its summary. A replay does so at the same place. */
  z.object({
    type: z.literal("tandem.compaction"),
    trigger: z.enum(["manual", "auto"]),
    tokens_before: z.int(),
    tokens_after: z.int().optional(),
  }),
  z.object({
    type: z.literal("session.updated"),
    metadata: z.record(z.string(), z.string()).optional(),
    tools: z.array(z.unknown()).optional(),
  }),
  /** An event that a replay cannot repeat. */
  z.object({ type: z.literal("other"), event: z.string() }),
]);
export type CassetteInput = z.infer<typeof inputEvent>;

const inputStep = z.object({
  kind: z.literal("input"),
  ...place,
  event: inputEvent,
  /** It arrived while the model answered, or while calls ran. Absent: between turns. */
  during: z.enum(["answer", "calls"]).optional(),
  /** The calls of this answer that had a result by then. */
  after: z.array(z.string()).optional(),
});

const added = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message"), content: z.array(block) }),
  z.object({ type: z.literal("system"), content: z.array(block) }),
  z.object({ type: z.literal("tool_result"), call: z.string(), content: z.array(block), is_error: z.boolean() }),
]);
export type CassetteAdded = z.infer<typeof added>;

const modelStep = z.object({
  kind: z.literal("model"),
  ...place,
  /** The messages and tool results that the request has and the previous one had not. */
  added: z.array(added),
  /** Claude Code made the request by itself, for example for a summary. The log has only its tokens. */
  unseen: z.literal(true).optional(),
  /** Null if the log ends before the answer does. */
  answer: z
    .discriminatedUnion("type", [
      z.object({
        type: z.literal("message"),
        model: z.string().nullable(),
        content: z.array(block),
        stop_reason: z.string(),
        usage: tokens,
        usd: z.number().nullable(),
      }),
      /** The turn was interrupted within the answer. */
      z.object({ type: z.literal("interrupted"), content: z.array(block) }),
      z.object({
        type: z.literal("error"),
        status: z.int().nullable(),
        reason: z.string(),
        retried: z.boolean(),
      }),
    ])
    .nullable(),
});

const callStep = z.object({
  kind: z.literal("call"),
  ...place,
  /** The model's id of the call. */
  id: z.string(),
  tool: z.string(),
  server: z.string().optional().describe("The MCP server that has the tool."),
  custom: z.literal(true).optional().describe("A client runs the tool, or a person answers the question."),
  input: z.record(z.string(), z.unknown()),
  permission: z.enum(["allow", "ask", "deny"]).optional(),
  verdict: z.object({ by: z.string(), why: z.string() }).optional(),
  approval: z.object({ outcome: z.string(), scope: z.string().optional(), edited: z.boolean().optional() }).optional(),
  /** Null if the log ends before the call does. */
  result: z
    .object({
      content: z.array(block),
      is_error: z.boolean(),
      interrupted: z.string().optional(),
      crc32: z.string().describe("Of the content: `resultChecksum`."),
    })
    .nullable(),
});

const idleStep = z.object({
  kind: z.literal("idle"),
  ...place,
  stop_reason: z.string(),
  waiting_for: z.array(z.string()).optional().describe("Calls that wait for an answer, at the end of the log."),
  error: z.object({ type: z.string(), message: z.string() }).optional(),
  /** The list price of the session so far. */
  usd: z.number(),
});

export const cassetteStep = z.discriminatedUnion("kind", [inputStep, modelStep, callStep, idleStep]);
export type CassetteStep = z.infer<typeof cassetteStep>;
export type CassetteStepOf<K extends CassetteStep["kind"]> = Extract<CassetteStep, { kind: K }>;

export const cassetteHeader = z.object({
  tandem_cassette: z.literal(CASSETTE_VERSION),
  session_id: z.string(),
  title: z.string().nullable(),
  created_at: z.string(),
  exported_at: z.string(),
  tandem_version: z.string(),
  /** Null if no process ran. */
  claude_code_version: z.string().nullable(),
  platform: z.string(),
  sandbox: z.boolean(),
  agent: sessionAgent.omit({ type: true, id: true, version: true, execution_identity: true }),
  /** The settings of the session, by their keys in its metadata. */
  settings: z.record(z.string(), z.string()),
  permission_mode: z.enum(PERMISSION_MODES),
  /** The rules that the session began with. */
  rules: z.array(rule.extend({ scope: z.enum(RULE_SCOPES), source: z.string() })),
  budget: budget.nullable(),
  usage: tokens,
  usd: z.number(),
});
export type CassetteHeader = z.infer<typeof cassetteHeader>;

const side = z.object({ tree: z.string(), files: z.int() });

/** The folder before the first turn and after the last, as branches `before` and `after` of one git bundle. */
export const cassetteFolder = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("bundle"),
    before: side,
    after: side,
    /** Credentials in files are redacted, as in events. */
    redacted: z.array(z.string()),
    /** Base64. */
    bundle: z.string(),
  }),
  z.object({ type: z.literal("left_out"), reason: z.string() }),
]);
export type CassetteFolder = z.infer<typeof cassetteFolder>;

export const cassette = z
  .object({
    header: cassetteHeader,
    steps: z.array(cassetteStep),
    events: z.array(cassetteEvent),
    folder: cassetteFolder,
  })
  .meta({ id: "Cassette" });
export type Cassette = z.infer<typeof cassette>;
