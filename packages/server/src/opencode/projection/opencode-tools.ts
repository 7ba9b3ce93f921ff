import { QUESTION_TOOL } from "@tandem/protocol";

// opencode's clients know tools by their own names and inputs, and render these with cards of their own.

type Fields = Record<string, unknown>;

const NAMES: Readonly<Record<string, string>> = {
  Bash: "bash",
  Read: "read",
  NotebookRead: "read",
  Write: "write",
  Edit: "edit",
  MultiEdit: "edit",
  NotebookEdit: "edit",
  Glob: "glob",
  Grep: "grep",
  LS: "list",
  WebFetch: "webfetch",
  WebSearch: "websearch",
  Task: "task",
  Agent: "task",
  TodoWrite: "todowrite",
  Skill: "skill",
  ExitPlanMode: "plan_exit",
  AskUserQuestion: "question",
  [QUESTION_TOOL]: "question",
};

const FIELDS: Readonly<Record<string, string>> = {
  file_path: "filePath",
  notebook_path: "filePath",
  old_string: "oldString",
  new_string: "newString",
  replace_all: "replaceAll",
};

export interface NamedTool {
  name: string | null;
  server?: string | undefined;
}

/** MCP tools have the name that opencode gives them: `SERVER_TOOL`. */
export function toolNameOf({ name, server }: NamedTool): string {
  if (server !== undefined) return `${server}_${name ?? "tool"}`.replaceAll(/[^\w-]/g, "_");
  return NAMES[name ?? ""] ?? name ?? "tool";
}

export const toolInputOf = (input: Fields | null): Fields =>
  Object.fromEntries(Object.entries(input ?? {}).map(([key, value]) => [FIELDS[key] ?? key, value]));

/** The permission that opencode would ask for. */
export function permissionOf(tool: NamedTool): string {
  const name = toolNameOf(tool);
  return name === "write" ? "edit" : name;
}

/** The line that a card shows beside the tool's name. */
export function toolTitleOf(tool: NamedTool, input: Fields | null): string {
  const word = (key: string): string | undefined => (typeof input?.[key] === "string" ? input[key] : undefined);
  return (
    word("description") ??
    word("file_path") ??
    word("notebook_path") ??
    word("command") ??
    word("pattern") ??
    word("url") ??
    word("query") ??
    word("path") ??
    toolNameOf(tool)
  );
}
