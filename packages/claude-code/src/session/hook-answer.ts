import type { SyncHookJSONOutput } from "@anthropic-ai/claude-agent-sdk";
import type { Confirmation } from "./conversation.ts";

/** A decision on a call, as Claude Code expects it from a hook. */
export const hookAnswer = (verdict: Confirmation): SyncHookJSONOutput => ({
  hookSpecificOutput: {
    hookEventName: "PreToolUse",
    permissionDecision: verdict.allow ? "allow" : "deny",
    ...(!verdict.allow && { permissionDecisionReason: verdict.message }),
    ...(verdict.allow && verdict.input && { updatedInput: verdict.input }),
    ...(verdict.allow && verdict.context !== undefined && { additionalContext: verdict.context }),
  },
});
