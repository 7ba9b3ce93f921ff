/** Other words for an action, so that users find it by the name that another product gives it. */
const SYNONYMS: Readonly<Record<string, string>> = {
  "New session": "start create begin run task prompt chat agent",
  "Keyboard shortcuts": "help keys hotkeys bindings",
  Documentation: "help docs manual guide",
  "Go to sessions": "home board dashboard list overview all",
  "Go to inbox": "approve approvals pending waiting needs you questions plans requests deny",
  "Go to decided requests": "inbox audit approvals history decisions",
  "Go to context": "wiki knowledge catalogue database tables memory search",
  "Go to settings": "preferences options configuration",
  "Stop everything (asks first)": "kill emergency halt panic pause abort",
  "Compare sessions": "diff fork side by side",
  "Show archived sessions": "archive old trash deleted",
  "Sign out": "log out logout leave exit session",
  Usage: "cost spend money price chart models agents dollars",
  Budgets: "cost spend money price limit usage dollars",
  Models: "price cost window opus sonnet haiku",
  Rules: "permissions allow deny ask policy bypass",
  Tokens: "api key access",
  Credentials: "login key account billing",
  Appearance: "theme dark light mode sign out",
  Status: "health doctor billing login model server",
  Notifications: "webhook desktop alerts",
  Audit: "log history who",
  Agents: "subagents model instructions tools",
  Environments: "folder worktree project workspace",
  "MCP servers": "tools integrations connectors",
  Trust: "folder hooks settings",
  "Theme: system": "appearance mode colour color",
  "Theme: light": "appearance mode colour color bright",
  "Theme: dark": "appearance mode colour color night",
  "Go to chat": "talk conversation messages transcript",
  "Go to changes": "diff files review patch edits",
  "Go to history": "timeline replay scrub past checkpoints",
  Rewind: "undo revert restore checkpoint back reset",
  Fork: "branch copy duplicate clone",
  "Compare with another session": "diff fork side by side",
  "Edit and resend the last message": "retry rephrase change undo edit",
  "Export as Markdown": "download save share",
  "Export events (JSON)": "download save log",
  "Copy link": "share url",
  "Memories from this session": "remember memory",
  "Rename session": "title name",
  "Archive …": "close end finish remove",
  "Delete permanently …": "remove trash",
  "Allow once": "approve accept yes confirm",
  "Allow for this session": "approve accept yes",
  "Always allow": "approve accept rule",
  "Approve plan": "accept allow yes",
  "Request changes": "reject deny plan",
  Deny: "reject no refuse",
  "Stop the turn": "interrupt cancel abort",
  "Next turn": "down",
  Latest: "end bottom newest",
  Proposals: "context review accept",
  Wiki: "context pages docs",
  Tables: "context catalogue database schema joins",
  Metrics: "context kpi measures figures numbers semantic layer definitions revenue dimensions",
  "Query metrics": "context kpi chart report pivot explore dashboard build numbers",
  SQL: "context query database select statement",
  Memory: "context remember facts",
  Jobs: "context scan ingest progress",
  Sources: "context database documents connections",
};

/**
 * How well an action matches the typed words: every word must start a word of its label or of its synonyms. A label
 * match ranks before a synonym. Undefined if it does not match.
 */
export function rankAction(label: string, typed: string): number | undefined {
  const words = wordsOf(typed);
  if (words.length === 0) return 0;
  const own = wordsOf(label);
  const other = wordsOf(SYNONYMS[label.replace(/ …$/, "")] ?? SYNONYMS[label] ?? "");
  let rank = 0;
  for (const word of words) {
    const at = own.findIndex((each) => each.startsWith(word));
    if (at >= 0) rank += at === 0 ? 0 : 1;
    else if (other.includes(word)) rank += 2;
    else if (other.some((each) => each.startsWith(word))) rank += 3;
    else return undefined;
  }
  return rank;
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
