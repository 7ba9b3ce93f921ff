const COMMAND = /<command-name>\s*(\S+?)\s*<\/command-name>/;
const ARGUMENTS = /<command-args>([\s\S]*?)<\/command-args>/;
const OUTPUT = /^<(?:local-command|bash)-(?:stdout|stderr|caveat)>/;
const SHELL = /^<bash-input>([\s\S]*?)<\/bash-input>/;
const TASK = /^<task-notification>/;
const TAGS = /<\/?(?:local-command|bash)-\w+>/g;

/**
 * What words in the user's name are: Claude Code writes what was typed and what it says itself into the same place of its
 * transcript, and tells them apart by tags.
 */
export function ownWord(text: string): { type: "prompt" | "command" | "notice" | "interrupted"; text: string } {
  if (text.startsWith("[Request interrupted by user")) return { type: "interrupted", text };
  const command = COMMAND.exec(text)?.[1];
  if (command !== undefined) {
    const written = ARGUMENTS.exec(text)?.[1]?.trim() ?? "";
    return { type: "command", text: `/${command.replace(/^\//, "")} ${written}`.trim() };
  }
  const shell = SHELL.exec(text)?.[1];
  if (shell !== undefined) return { type: "notice", text: `! ${shell.trim()}` };
  if (OUTPUT.test(text)) return { type: "notice", text: text.replace(TAGS, "").trim() };
  if (TASK.test(text)) return { type: "notice", text: text.replace(/<\/?[\w-]+>/g, " ").trim() };
  return { type: "prompt", text };
}
