import { z } from "zod";
import { budgetGauge } from "../../config/limits.ts";
import { described, event, eventId } from "../event-schema.ts";
import { modelUsage } from "../model-usage.ts";
import { requestNote } from "../request-event.ts";

// Requests to the model, and their limits.

const usages = z.record(z.string(), modelUsage);
const request = { model_usage: modelUsage, tandem: requestNote };

export const tandemModelEvents = {
  ...event("tandem.thinking", "The text of the agent's thinking.", {
    thinking_id: eventId,
    text: z.string(),
    signature: z.string().nullable(),
  }),
  ...event("tandem.thinking_redacted", "Thinking that the model API encrypted.", {
    thinking_id: eventId,
    data: z.string(),
  }),
  ...event("tandem.compaction", "The conversation was summarized to free context.", {
    trigger: z.enum(["manual", "auto"]),
    tokens_before: z.int(),
    tokens_after: z.int().optional(),
  }),
  ...event("tandem.retry", "A failed model request is retried after a delay.", {
    attempt: z.int(),
    max_attempts: z.int(),
    delay_ms: z.number(),
    status: z.int().nullable(),
    reason: z.string(),
  }),
  ...event("tandem.rate_limit", "The state of the account's quota changed.", {
    status: z.string(),
    kind: z.string().optional(),
    resets_at: z.string().optional(),
    utilization: z.number().optional(),
  }),
  ...event("tandem.model_fallback", "Another model answered than the one that was requested.", {
    from: z.string(),
    to: z.string(),
    reason: z.string(),
  }),
  ...event("tandem.output", "The object that a turn with an output schema returned.", { value: z.unknown() }),
  ...event(
    "tandem.usage_mismatch",
    "The sum of a turn's requests differs from the total that Claude Code reports. By model.",
    { counted: usages, reported: usages },
  ),
  ...event("tandem.budget", "A limit was reached; the session is idle until it is raised.", {
    gauge: budgetGauge,
    reason: z.string(),
  }),
  ...event("tandem.parked", "The turn waits for a quota reset.", {
    resets_at: z.string(),
    kind: z.string(),
    resumes: described("The turn continues by itself only if this is true.", z.boolean()),
    window: z.number(),
  }),
  ...event("tandem.model", "The model and effort of the next turns.", {
    model: z.string(),
    effort: z.string().nullable(),
    ignored: described("The requested settings that the model ignores.", z.array(z.string())),
  }),
  ...event(
    "tandem.grader_request",
    "A model request of the grader of an outcome. Its usage is also part of the evaluation's end.",
    { outcome_id: z.string(), ...request },
  ),
  ...event(
    "tandem.side_request",
    "A model request besides the conversation's: of a program that the agent ran in the sandbox, or of Claude Code itself.",
    request,
  ),
};
