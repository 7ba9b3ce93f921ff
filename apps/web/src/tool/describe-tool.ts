import type { PartOf } from "@tandem/protocol";

type ToolPart = PartOf<"tool">;

export type ToolKind =
  | "shell"
  | "edit"
  | "write"
  | "read"
  | "search"
  | "web"
  | "agent"
  | "list"
  | "plan"
  | "question"
  | "mcp"
  | "other";

/** The summary of a call. */
export interface ToolWords {
  kind: ToolKind;
  verb: string;
  /** Shown as code. */
  subject: string;
  /** Shown as plain text after the subject. */
  note?: string;
}

export function describeTool(part: ToolPart): ToolWords {
  const input = part.input ?? previewedInput(part.input_preview ?? "");
  const field = (key: string): string => (typeof input[key] === "string" ? input[key] : "");
  const name = part.name ?? "Tool";
  if (part.kind === "mcp" || part.server !== undefined) {
    return { kind: "mcp", verb: `${part.server ?? "MCP"} · ${name}`, subject: brief(input) };
  }
  switch (name) {
    case "Bash":
      return { kind: "shell", verb: "Ran", subject: field("command"), ...note(field("description")) };
    case "BashOutput":
      return { kind: "shell", verb: "Output of", subject: field("bash_id") || field("shell_id") };
    case "KillShell":
      return { kind: "shell", verb: "Stopped", subject: field("shell_id") };
    case "Edit":
    case "MultiEdit":
      return { kind: "edit", verb: "Edited", subject: field("file_path") };
    case "NotebookEdit":
      return { kind: "edit", verb: "Edited", subject: field("notebook_path") };
    case "Write":
      return { kind: "write", verb: "Wrote", subject: field("file_path") };
    case "Read":
      return { kind: "read", verb: "Read", subject: field("file_path"), ...note(span(input)) };
    case "NotebookRead":
      return { kind: "read", verb: "Read", subject: field("notebook_path") };
    case "LS":
      return { kind: "search", verb: "Listed", subject: field("path") };
    case "Glob":
      return { kind: "search", verb: "Searched for", subject: field("pattern"), ...note(within(field("path"))) };
    case "Grep":
      return {
        kind: "search",
        verb: "Searched",
        subject: field("pattern"),
        ...note(within(field("path") || field("glob"))),
      };
    case "WebFetch":
      return { kind: "web", verb: "Fetched", subject: field("url") };
    case "WebSearch":
      return { kind: "web", verb: "Searched the web", subject: field("query") };
    case "Agent":
    case "Task":
      return { kind: "agent", verb: field("subagent_type") || "Subagent", subject: field("description") };
    case "TodoWrite":
    case "TaskCreate":
    case "TaskUpdate":
      return { kind: "list", verb: "List", subject: field("subject") };
    case "ExitPlanMode":
      return { kind: "plan", verb: "Plan", subject: "" };
    case "ask_user_question":
    case "AskUserQuestion":
      return { kind: "question", verb: "Asked you", subject: "" };
    case "Skill":
      return { kind: "other", verb: "Skill", subject: field("skill") || field("command") };
    default:
      return { kind: "other", verb: name, subject: brief(input) };
  }
}

const note = (text: string): { note?: string } => (text === "" ? {} : { note: text });
const within = (path: string): string => (path === "" ? "" : `in ${path}`);

function span({ offset, limit }: Record<string, unknown>): string {
  if (typeof offset !== "number") return "";
  return typeof limit === "number" ? `lines ${offset}–${offset + limit - 1}` : `from line ${offset}`;
}

function brief(input: Record<string, unknown>): string {
  const first = Object.values(input).find((value) => typeof value === "string" && value !== "");
  return typeof first === "string" ? first : "";
}

/** Reads the strings of incomplete, streaming JSON. */
export function previewedInput(json: string): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [, key, value] of json.matchAll(/"(\w+)"\s*:\s*"((?:[^"\\]|\\.)*)/gs)) {
    if (key === undefined || value === undefined || key in found) continue;
    try {
      found[key] = JSON.parse(`"${value}"`);
    } catch {
      found[key] = value;
    }
  }
  return found;
}

/** Makes a path relative to the session's folder. */
export function shortened(text: string, folder: string | undefined): string {
  if (!folder) return text;
  return text.startsWith(`${folder}/`) ? text.slice(folder.length + 1) : text;
}

/** The number of results of a search or read call. */
export function findings(part: ToolPart): string | undefined {
  if (part.state.type !== "completed") return undefined;
  const text = textOf(part.state.output);
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  switch (part.name) {
    case "Read":
    case "NotebookRead":
      return part.state.output.some(({ type }) => type !== "text") ? "an image" : plural(lines.length, "line");
    case "Glob":
    case "LS":
      return text.startsWith("No files found") ? "nothing" : plural(lines.length, "file");
    case "Grep": {
      if (/^(No matches|No files|Found 0)/.test(text)) return "nothing";
      const found = /^Found (\d+) /.exec(text)?.[1];
      if (found !== undefined) return plural(Number(found), "file");
      return plural(lines.length, "hit");
    }
    default:
      return undefined;
  }
}

export const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;

export const textOf = (output: readonly { type: string; text?: string }[]): string =>
  output.map((block) => (block.type === "text" ? (block.text ?? "") : `[${block.type}]`)).join("\n");
