// Which tools there are, and what a pattern says of each.

/** What the pattern of a rule is about. */
export type Subject = "command" | "path" | "domain" | "name";

export const TOOL_KINDS = {
  shell: ["Bash", "Monitor"],
  edit: ["Edit", "Write", "NotebookEdit", "MultiEdit"],
  read: ["Read", "Glob", "Grep"],
  web: ["WebFetch", "WebSearch"],
} as const;
export type ToolKind = keyof typeof TOOL_KINDS;

const OTHERS = [
  ...["Agent", "Task", "Skill", "SlashCommand", "SendMessage", "BashOutput", "KillShell", "TodoWrite", "TaskCreate"],
  ...[
    "TaskUpdate",
    "TaskList",
    "TaskGet",
    "TaskStop",
    "TaskOutput",
    "AskUserQuestion",
    "EnterPlanMode",
    "ExitPlanMode",
  ],
  ...[
    "EnterWorktree",
    "ExitWorktree",
    "ToolSearch",
    "CronCreate",
    "CronDelete",
    "CronList",
    "ScheduleWakeup",
    "Workflow",
  ],
  ...["PowerShell"],
];

export const KNOWN_TOOLS: readonly string[] = [...Object.values(TOOL_KINDS).flat(), ...OTHERS];

const SUBJECTS: Record<ToolKind, Subject> = { shell: "command", edit: "path", read: "path", web: "domain" };

/** The input field that names what a call is about, of tools that are of no kind. */
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

/** What a pattern of a rule for this tool is about; undefined where it takes none. */
export function subjectOf(tool: string): Subject | undefined {
  const kind = kindOf(tool);
  return kind ? SUBJECTS[kind] : Object.hasOwn(NAME_FIELDS, tool) ? "name" : undefined;
}

/** What a tool does with the file that it is called for. */
export const ACCESS: Readonly<Record<string, readonly ("read" | "write")[]>> = {
  Read: ["read"],
  Glob: ["read"],
  Grep: ["read"],
  // They show what is around the place that they change.
  Edit: ["read", "write"],
  MultiEdit: ["read", "write"],
  NotebookEdit: ["read", "write"],
  Write: ["write"],
};
