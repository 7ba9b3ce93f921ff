// Known tools, and the meaning of a rule's pattern for each.

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

/** How a tool accesses its file. */
export const ACCESS: Readonly<Record<string, readonly ("read" | "write")[]>> = {
  Read: ["read"],
  Glob: ["read"],
  Grep: ["read"],
  // Edit tools return the text around a change.
  Edit: ["read", "write"],
  MultiEdit: ["read", "write"],
  NotebookEdit: ["read", "write"],
  Write: ["write"],
};
