import { z } from "zod";
import { PERMISSION_MODES, rule } from "../config/rule.ts";
import { filePatch } from "./file-patch.ts";

/** The scope of an answer: this call, similar calls in the session, or all similar calls from now on (saves a rule). */
const APPROVAL_SCOPES = ["once", "session", "always"] as const;

/** Details of a call that awaits approval, stored on its use event. */
export const approvalNote = z.object({
  kind: z.enum(["tool", "plan", "question"]),
  expires_at: z.string().nullable().meta({ description: "The call is denied at this time. Null: no expiry." }),
  diff: filePatch.optional().meta({ description: "The expected change of a file, if it is known." }),
  plan: z.string().optional().meta({ description: 'The whole plan in Markdown, for `kind: "plan"`.' }),
  suggestion: rule
    .optional()
    .meta({ description: "The rule that `always` and `session` would save. Absent if none is safe." }),
});
export type ApprovalNote = z.infer<typeof approvalNote>;

/** The body of `POST /v1/approvals/:id`. */
export const approvalAnswer = z
  .strictObject({
    result: z.enum(["allow", "deny"]),
    scope: z.enum(APPROVAL_SCOPES).default("once"),
    /** The scope in which `always` saves the rule. */
    save_for: z.enum(["user", "project", "agent"]).optional(),
    /** Replaces the suggested rule, with `session` and `always`. */
    rule: rule.optional(),
    /** Replaces the call's input. Only with `once`. For a question: `{"answers": {…}}`. */
    input: z.record(z.string(), z.unknown()).optional(),
    /** The session's new mode: the answer to a plan. */
    mode: z.enum(PERMISSION_MODES).optional(),
    /** The reason for a denial, sent to the model. */
    message: z.string().max(10_000).optional(),
  })
  .meta({ id: "ApprovalAnswer" });
export type ApprovalAnswer = z.infer<typeof approvalAnswer>;

/** How an approval ended. */
export const approvalOutcome = z.object({
  outcome: z.enum(["allowed", "denied", "expired", "cancelled"]),
  by: z.string().meta({ description: "The token's name, `rule`, or `tandem` if no person answered." }),
  at: z.string(),
  scope: z.enum(APPROVAL_SCOPES).optional(),
  message: z.string().optional(),
  edited: z.boolean().optional().meta({ description: "True if the answer changed the input." }),
  mode: z.enum(PERMISSION_MODES).optional(),
  late: z
    .boolean()
    .optional()
    .meta({ description: "The asking process had ended. An allowed call runs in a new process." }),
});
export type ApprovalOutcome = z.infer<typeof approvalOutcome>;
