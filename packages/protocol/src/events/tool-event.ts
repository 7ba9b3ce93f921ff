import { z } from "zod";
import { verdict } from "../config/rule.ts";
import { VERDICTS } from "../words.ts";
import { approvalNote } from "./approval-answer.ts";
import { toolResultContent } from "./content.ts";
import { described, event, eventId, openObject, threadId } from "./event-schema.ts";
import { filePatch } from "./file-patch.ts";

// Tool calls of the agent, and their results.

const permission = z.enum(["allow", "ask", "deny"]);
export type Permission = z.infer<typeof permission>;

const evaluation = z
  .discriminatedUnion("type", [
    openObject({ type: z.literal("always_allow") }),
    openObject({ type: z.literal("always_ask") }),
    openObject({
      type: z.literal("auto"),
      evaluated_permission: described(
        "Each call was judged by itself. `indeterminate`: no judgement was reached; `high_risk`: the call does not run.",
        z.discriminatedUnion("type", [
          openObject({ type: z.literal("allow") }),
          openObject({ type: z.literal("ask"), reason_code: z.literal("indeterminate") }),
          openObject({ type: z.literal("deny"), reason_code: z.literal("high_risk") }),
        ]),
      ),
    }),
  ])
  .meta({ id: "ToolEvaluation" });
export type Evaluation = z.infer<typeof evaluation>;

const toolCallNote = openObject({
  tool_use_id: described("The call's id in the model API and in Claude Code.", z.string()),
  verdict: described("The reason why it was allowed, asked about or denied.", verdict.optional()),
  approval: described("Present on a call that needs approval.", approvalNote.optional()),
  outcome_of: described("On a question of Tandem itself: the call whose outcome it asks for.", eventId.optional()),
  worker: described(
    "A worker of the self-hosted environment runs the call, and answers it with `user.tool_result`.",
    z.literal(true).optional(),
  ),
}).meta({ id: "ToolCallNote", description: "Tandem's additions to a tool call." });

const use = {
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
  session_thread_id: threadId.nullish(),
  tandem: toolCallNote,
};

const permissionOfUse = { evaluated_permission: permission.optional(), evaluation: evaluation.optional() };

export const interruption = z.enum(["crash", "interrupt", "stopped"]);
export type Interruption = z.infer<typeof interruption>;

const result = {
  content: z.array(toolResultContent).optional(),
  is_error: z.boolean().nullish(),
  tandem: openObject({
    interrupted: described(
      "Why the tool's own result is missing: it may have run completely, partly or not at all.",
      interruption.optional(),
    ),
    patch: described("The change made by a file tool, as hunks; whole files are never stored.", filePatch.optional()),
    verdict: described(
      "The verdict on a statement that the context's `sql_query` ran or refused to run.",
      z.enum(VERDICTS).optional(),
    ),
  }).optional(),
};

export const toolEvents = {
  ...event("agent.tool_use", "The agent calls a built-in tool.", { ...permissionOfUse, ...use }),
  ...event("agent.tool_result", "The result of a built-in tool.", { tool_use_id: eventId, ...result }),
  ...event("agent.mcp_tool_use", "The agent calls a tool of an MCP server.", {
    mcp_server_name: z.string(),
    ...permissionOfUse,
    ...use,
  }),
  ...event("agent.mcp_tool_result", "The result of a tool of an MCP server.", { mcp_tool_use_id: eventId, ...result }),
  ...event("agent.custom_tool_use", "The agent calls a tool of the application, which answers it.", use),
};
