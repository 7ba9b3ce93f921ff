import { z } from "zod";
import { PERMISSION_MODES, rule } from "../config/rule.ts";
import type { FilePatch } from "./file-patch.ts";

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
