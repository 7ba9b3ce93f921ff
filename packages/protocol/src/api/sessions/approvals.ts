import { z } from "zod";
import { rule, RULE_ACTIONS, type Verdict } from "../../config/rule.ts";
import { approvalAnswer, approvalOutcome } from "../../events/approval-answer.ts";
import { filePatch } from "../../events/file-patch.ts";
import { pageOf, pageQuery } from "../page.ts";
import { typed } from "../typed.ts";
import { TOOL_CALL_STATES } from "../../words.ts";

const APPROVAL_STATUSES = ["pending", "resolved"] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** An approval request, built from the log. */
export const approval = z
  .object({
    type: z.literal("approval"),
    /** The id of the call's event. */
    id: z.string(),
    kind: z.enum(["tool", "plan", "question"]),
    session_id: z.string(),
    session_title: z.string().nullable(),
    /** The subagent's thread; null on the primary thread. */
    session_thread_id: z.string().nullable(),
    /** The agent that makes the call. */
    agent_name: z.string(),
    folder: z.string(),
    tool: z.string(),
    mcp_server_name: z.string().optional(),
    input: z.record(z.string(), z.unknown()),
    /** The reason for asking. */
    verdict: typed<Verdict>()(
      z.looseObject({ action: z.enum(RULE_ACTIONS), why: z.string(), by: z.string() }),
    ).optional(),
    diff: filePatch.optional(),
    plan: z.string().optional(),
    suggestion: rule.optional(),
    created_at: z.string(),
    expires_at: z.string().nullable(),
    status: z.enum(APPROVAL_STATUSES),
    /** The last `tandem.tool_state` of the call. Answered calls of version 0.1 have none. */
    state: z.enum(TOOL_CALL_STATES).optional(),
    resolved: approvalOutcome.nullable(),
  })
  .meta({ id: "Approval" });
export type Approval = z.infer<typeof approval>;

export const approvalsApi = {
  "approvals.list": {
    query: z.strictObject({
      ...pageQuery,
      status: z.enum(APPROVAL_STATUSES).default("pending"),
      session_id: z.string().optional(),
    }),
    response: pageOf(approval),
  },
  "approvals.retrieve": { response: approval },
  "approvals.answer": { body: approvalAnswer, response: approval },
};
