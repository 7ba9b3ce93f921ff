// Known tools, and the meaning of a rule's pattern for each.

import type { JudgedCall } from "./session-rules.ts";

/** The kind of value that a rule's pattern matches. */
export type Subject = "command" | "path" | "domain" | "name";

export const TOOL_KINDS = {
  shell: ["Bash", "Monitor"],
  edit: ["Edit", "Write", "NotebookEdit", "MultiEdit"],
  read: ["Read", "Glob", "Grep"],
  web: ["WebFetch", "WebSearch"],
} as const;
export type ToolKind = keyof typeof TOOL_KINDS;

const OTHERS = `Agent Task Skill SlashCommand SendMessage BashOutput KillShell TodoWrite TaskCreate TaskUpdate
  TaskList TaskGet TaskStop TaskOutput AskUserQuestion EnterPlanMode ExitPlanMode EnterWorktree
  ExitWorktree ToolSearch CronCreate CronDelete CronList ScheduleWakeup Workflow PowerShell`.split(/\s+/);

export const KNOWN_TOOLS: readonly string[] = [...Object.values(TOOL_KINDS).flat(), ...OTHERS];

const SUBJECTS: Record<ToolKind, Subject> = { shell: "command", edit: "path", read: "path", web: "domain" };

/** For tools of no kind: the input field that a pattern matches. */
export const NAME_FIELDS: Readonly<Record<string, string>> = {
  Agent: "subagent_type",
  Task: "subagent_type",
  Skill: "skill",
  SlashCommand: "command",
};

export function kindOf(tool: string): ToolKind | undefined {
  if (Object.hasOwn(TOOL_KINDS, tool)) return tool as ToolKind;
  const found = Object.entries(TOOL_KINDS).find(([, tools]) => (tools as readonly string[]).includes(tool));
  return found?.[0] as ToolKind | undefined;
}

/** The kind of pattern for this tool; undefined if it takes none. */
export function subjectOf(tool: string): Subject | undefined {
  const kind = kindOf(tool);
  return kind ? SUBJECTS[kind] : Object.hasOwn(NAME_FIELDS, tool) ? "name" : undefined;
}

type FileTool = (typeof TOOL_KINDS)["edit" | "read"][number];

interface FileAccess {
  /** The input field that names the file, or the folder of a search. */
  field: string;
  access: readonly ("read" | "write")[];
  /** Reads everything below a folder; without a path, below the session's. */
  isSearch?: true;
}

/** How each file tool names and accesses its file. Every check on paths reads this table. */
export const FILE_TOOLS: Readonly<Record<FileTool, FileAccess>> = {
  Read: { field: "file_path", access: ["read"] },
  Glob: { field: "path", access: ["read"], isSearch: true },
  Grep: { field: "path", access: ["read"], isSearch: true },
  // Edit tools return the text around a change.
  Edit: { field: "file_path", access: ["read", "write"] },
  MultiEdit: { field: "file_path", access: ["read", "write"] },
  NotebookEdit: { field: "notebook_path", access: ["read", "write"] },
  Write: { field: "file_path", access: ["write"] },
};

const isFileTool = (name: string): name is FileTool => Object.hasOwn(FILE_TOOLS, name);

/** Undefined for tools of MCP servers, whatever their names are. */
export const fileAccess = ({ name, mcpServer }: Pick<JudgedCall, "name" | "mcpServer">): FileAccess | undefined =>
  mcpServer === undefined && isFileTool(name) ? FILE_TOOLS[name] : undefined;

/** The file or folder that a file tool's call names. Other fields of its input do not count. */
export function filePath(call: Pick<JudgedCall, "name" | "mcpServer" | "input">): string | undefined {
  const field = fileAccess(call)?.field;
  const path = field === undefined ? undefined : call.input[field];
  return typeof path === "string" ? path : undefined;
}

/** The file that a call writes, if a file tool would write one. */
export const writtenPath = (call: Pick<JudgedCall, "name" | "mcpServer" | "input">): string | undefined =>
  fileAccess(call)?.access.includes("write") ? filePath(call) : undefined;
