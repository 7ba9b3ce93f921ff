import { z } from "zod";
import { PERMISSION_MODES, rule } from "../config/rule.ts";
import type { FilePatch } from "./file-patch.ts";

/** The scope of an answer: this call, similar calls in the session, or all similar calls from now on (saves a rule). */
export const APPROVAL_SCOPES = ["once", "session", "always"] as const;
type ApprovalScope = (typeof APPROVAL_SCOPES)[number];

/** Details of a call that awaits approval, stored on its use event. */
export interface ApprovalNote {
  kind: "tool" | "plan" | "question";
  /** The call is denied at this time. Null: no expiry. */
  expires_at: string | null;
  /** The expected change of a file, if it is known. */
  diff?: FilePatch;
  /** The whole plan in Markdown, for `kind: "plan"`. */
  plan?: string;
  /** The rule that `always` and `session` would save. Absent if none is safe. */
  suggestion?: z.infer<typeof rule>;
}

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
export interface ApprovalOutcome {
  outcome: "allowed" | "denied" | "expired" | "cancelled";
  /** The token's name, `rule`, or `tandem` if no person answered. */
  by: string;
  at: string;
  scope?: ApprovalScope;
  message?: string;
  /** True if the answer changed the input. */
  edited?: boolean;
  mode?: (typeof PERMISSION_MODES)[number];
  /** The asking process had ended. An allowed call runs in a new process. */
  late?: boolean;
}
