import { z } from "zod";
import { filePatch } from "./file-patch.ts";
import { PERMISSION_MODES, rule, RULE_ACTIONS } from "./rule.ts";
import type { FilePatch } from "./session-event.ts";

export { QUESTION_TOOL } from "./words.ts";

/** How far an answer reaches: this call, all like it in the session, or all like it from now on (a rule is saved). */
export const APPROVAL_SCOPES = ["once", "session", "always"] as const;
export type ApprovalScope = (typeof APPROVAL_SCOPES)[number];

/** What a call that waits for a person says of itself beside tool and input. It stands on the use event. */
export interface ApprovalNote {
  kind: "tool" | "plan" | "question";
  /** Denied by itself then. Null: it waits for as long as it takes. */
  expires_at: string | null;
  /** What would change, where that can be told beforehand. */
  diff?: FilePatch;
  /** The whole plan, in Markdown, of `kind: "plan"`. */
  plan?: string;
  /** The rule that `always` and `session` would save. Absent where none would be safe. */
  suggestion?: z.infer<typeof rule>;
}

/** `POST /v1/approvals/:id`. */
export const approvalAnswer = z
  .strictObject({
    result: z.enum(["allow", "deny"]),
    scope: z.enum(APPROVAL_SCOPES).default("once"),
    /** Where `always` is kept. */
    save_for: z.enum(["user", "project", "agent"]).optional(),
    /** Instead of the suggested rule, with `session` and `always`. */
    rule: rule.optional(),
    /** The call is made with this input instead. Only with `once`. Of a question: `{"answers": {…}}`. */
    input: z.record(z.string(), z.unknown()).optional(),
    /** The session's mode from now on: the answer to a plan. */
    mode: z.enum(PERMISSION_MODES).optional(),
    /** Told to the model where the call is denied. */
    message: z.string().max(10_000).optional(),
  })
  .meta({ id: "ApprovalAnswer" });
export type ApprovalAnswer = z.infer<typeof approvalAnswer>;

/** How an approval ended. */
export interface ApprovalOutcome {
  outcome: "allowed" | "denied" | "expired" | "cancelled";
  /** The token's name, `rule`, or `tandem` where nobody did. */
  by: string;
  at: string;
  scope?: ApprovalScope;
  message?: string;
  /** Whether the input was changed by who answered. */
  edited?: boolean;
  mode?: (typeof PERMISSION_MODES)[number];
  /** The process that asked was gone by then. If the call was allowed, exactly it passes, once, when it is made again. */
  late?: boolean;
}

const question = z.object({
  question: z.string().min(1),
  header: z.string().optional(),
  options: z
    .array(z.object({ label: z.string(), description: z.string().optional(), preview: z.string().optional() }))
    .default([]),
  multiSelect: z.boolean().default(false),
});
export type Question = z.infer<typeof question>;

/** The input of a question's call. */
export const questionInput = z.object({ questions: z.array(question).min(1) });

/** The text of the result that answers: a label, several where that is allowed, or words of one's own for each question. */
export const questionAnswers = z.strictObject({
  answers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
});

export const APPROVAL_STATUSES = ["pending", "resolved"] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** A request to a person, as the log tells it. */
export const approval = z
  .object({
    type: z.literal("approval"),
    /** That of the call's event. */
    id: z.string(),
    kind: z.enum(["tool", "plan", "question"]),
    session_id: z.string(),
    session_title: z.string().nullable(),
    /** Where a subagent asks: its thread. Null on the primary one. */
    session_thread_id: z.string().nullable(),
    /** Who asks. */
    agent_name: z.string(),
    folder: z.string(),
    tool: z.string(),
    mcp_server_name: z.string().optional(),
    input: z.record(z.string(), z.unknown()),
    /** Why it is asked about. */
    verdict: z.looseObject({ action: z.enum(RULE_ACTIONS), why: z.string(), by: z.string() }).optional(),
    diff: filePatch.optional(),
    plan: z.string().optional(),
    suggestion: rule.optional(),
    created_at: z.string(),
    expires_at: z.string().nullable(),
    status: z.enum(APPROVAL_STATUSES),
    resolved: z
      .object({
        outcome: z.enum(["allowed", "denied", "expired", "cancelled"]),
        by: z.string(),
        at: z.string(),
        scope: z.enum(APPROVAL_SCOPES).optional(),
        message: z.string().optional(),
        edited: z.boolean().optional(),
        mode: z.enum(PERMISSION_MODES).optional(),
        late: z.boolean().optional(),
      })
      .nullable(),
  })
  .meta({ id: "Approval" });
export type Approval = z.infer<typeof approval>;
