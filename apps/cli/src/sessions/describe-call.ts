import type { SessionEvent } from "@tandem/protocol";
import { isAbsolute, relative } from "node:path";
import { printable } from "../terminal.ts";

export type ToolUse = Extract<
  SessionEvent,
  { type: "agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use" }
>;

export const isToolUse = (event: SessionEvent): event is ToolUse =>
  event.type === "agent.tool_use" || event.type === "agent.mcp_tool_use" || event.type === "agent.custom_tool_use";

/** The tool's display name, also used after `--allow`. */
export const toolName = (use: ToolUse): string =>
  use.type === "agent.mcp_tool_use" ? `${use.mcp_server_name}.${use.name}` : use.name;

/** Summarizes a call in one line: command, path or pattern. Paths are relative to `folder`. */
export function describeCall(use: Pick<ToolUse, "name" | "input">, folder?: string): string {
  const text = (key: string): string => {
    const value = use.input[key];
    return typeof value === "string" ? value : "";
  };
  const path = (key: string): string => shownPath(text(key), folder);
  const where = text("path") && ` in ${path("path")}`;
  switch (use.name) {
    case "Bash":
      return oneLine(text("command"));
    case "Read":
      return oneLine(path("file_path") + lines(use.input));
    case "Write":
    case "Edit":
      return oneLine(path("file_path"));
    case "NotebookEdit":
      return oneLine(path("notebook_path"));
    case "Glob":
    case "Grep":
      return oneLine(text("pattern") + where);
    case "WebFetch":
      return oneLine(text("url"));
    case "WebSearch":
      return oneLine(text("query"));
    case "Agent":
    case "Task":
      return oneLine([text("subagent_type"), text("description")].filter(Boolean).join(": "));
    default:
      return Object.keys(use.input).length === 0 ? "" : oneLine(JSON.stringify(use.input));
  }
}

function lines({ offset, limit }: Record<string, unknown>): string {
  if (typeof offset !== "number") return "";
  return typeof limit === "number" ? `, lines ${offset} to ${offset + limit - 1}` : `, from line ${offset}`;
}

function shownPath(path: string, folder: string | undefined): string {
  if (folder === undefined || !isAbsolute(path)) return path;
  const way = relative(folder, path);
  return way === "" ? "." : way.startsWith("..") ? path : way;
}

/** Marks omitted lines. */
function oneLine(text: string): string {
  const [first = "", ...rest] = printable(text).trim().split("\n");
  return rest.length > 0 ? `${first} …` : first;
}
