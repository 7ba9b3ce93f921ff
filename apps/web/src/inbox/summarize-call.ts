import type { Approval } from "@tandem/protocol";
import { escapeHidden } from "../text/escape-hidden.ts";
import { relativePath } from "../text/path-labels.ts";

type Call = Pick<Approval, "kind" | "tool" | "input" | "folder"> & { plan?: string | undefined };

/** The subject of a call in one line. */
export function summarizeCall({ kind, tool, input, plan, folder }: Call): string {
  if (kind === "plan") return firstLine(plan ?? text(input["plan"]) ?? "").replace(/^#+\s*/, "");
  if (kind === "question") {
    const [first, ...others] = (input["questions"] as { question?: string }[] | undefined) ?? [];
    return `${first?.question ?? ""}${others.length > 0 ? ` (and ${others.length} more)` : ""}`;
  }
  const path = text(input["file_path"]) ?? text(input["notebook_path"]);
  if (path !== undefined) return relativePath(folder, path);
  const subject =
    text(input["command"]) ??
    text(input["url"]) ??
    text(input["query"]) ??
    text(input["pattern"]) ??
    Object.values(input).find((value) => typeof value === "string");
  return firstLine(typeof subject === "string" ? subject : tool);
}

export const nameOfKind = ({ kind, tool, mcp_server_name }: Pick<Approval, "kind" | "tool" | "mcp_server_name">) => {
  if (kind === "plan") return "Plan";
  if (kind === "question") return "Question";
  return mcp_server_name === undefined ? tool : `${mcp_server_name} · ${tool.split("__").at(-1)!}`;
};

/** Whether a rewind can undo the call; undefined for calls that change nothing. */
export function undoHint({ tool, input, folder }: Pick<Approval, "tool" | "input" | "folder">): string | undefined {
  const path = text(input["file_path"]) ?? text(input["notebook_path"]);
  if (/^(Edit|MultiEdit|Write|NotebookEdit)$/.test(tool) && path !== undefined) {
    const isWithin = !path.split("/").includes("..") && (path.startsWith(`${folder}/`) || !path.startsWith("/"));
    return isWithin
      ? "Rewind can undo this, unless the file is git-ignored."
      : "Rewind cannot undo this: the file is outside the session’s folder.";
  }
  if (tool === "Bash") return "Rewind can undo this, except for git-ignored files and anything outside the folder.";
  return tool.startsWith("mcp__") ? "Rewind cannot undo effects in other systems." : undefined;
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const firstLine = (words: string): string => escapeHidden(words.trimStart().split("\n", 1)[0]!);
