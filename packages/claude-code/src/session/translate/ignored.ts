import type { SDKUserMessage, SDKUserMessageReplay } from "@anthropic-ai/claude-agent-sdk";

/** Messages that are redundant or do not concern a session, each with the reason. */
export const IGNORED: Readonly<Record<string, string>> = {
  keep_alive: "a heartbeat",
  attachment: "answers of our own hooks, reported when a process runs a call of an earlier one",
  "system/status": "the results of requests and compactions are reported",
  "system/thinking_tokens": "an estimate that the usage replaces",
  "system/session_state_changed": "turns are reported by their messages and results",
  "system/control_request_progress": "a heartbeat of our own requests",
  "system/hook_started": "our own hooks",
  "system/hook_progress": "our own hooks",
  "system/hook_response": "our own hooks",
  "system/commands_changed": "slash commands are not offered",
  "system/model_refusal_no_fallback": "the result says so too, and how the turn ended",
  "system/post_turn_summary": "a summary for Claude Code's own clients",
  "system/task_summary": "a summary for Claude Code's own clients",
  "system/session_metadata": "a title for Claude Code's own clients",
  autocompact_state: "compactions are reported when they happen",
  tool_use_summary: "a summary of calls that are reported one by one",
  prompt_suggestion: "not asked for",
};

/** Texts that Claude Code sends to the model as the user; covered by other events, or irrelevant. */
const IGNORED_WORDS: readonly { pattern: RegExp; why: string }[] = [
  { pattern: /^\[Request interrupted by user/, why: "the turn's end says that it was interrupted" },
  { pattern: /^\[structured-output-enforce\]/, why: "Claude Code reminds the model of the output schema" },
  { pattern: /^Output token limit hit\./, why: "Claude Code continues a cut answer; the spans show it" },
  { pattern: /^\[Your previous response had no visible output\./, why: "Claude Code asks again; the spans show it" },
  { pattern: /^<local-command-stdout>Set model to/, why: "we asked for it, and say so ourselves" },
  {
    pattern: /^Base directory for this skill: |^Skill \/\S+ is already loaded/,
    why: "the call of the skill is reported",
  },
  { pattern: /^This session is being continued from a previous conversation/, why: "the summary of a compaction" },
];

/** User text that needs no event: echoes, prompts of subagents, and Claude Code's own texts. */
export function isInternalText(
  message: SDKUserMessage | SDKUserMessageReplay,
  block: { type: string; text?: unknown },
): boolean {
  if ("isReplay" in message && message.isReplay) return true;
  if (message.parent_tool_use_id !== null && block.type === "text") return true;
  return IGNORED_WORDS.some(({ pattern }) => pattern.test(String(block.text)));
}
