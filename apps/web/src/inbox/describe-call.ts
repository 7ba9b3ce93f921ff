import type { Approval } from "@tandem/protocol";
import { visibleSigns } from "../text/visible-signs.ts";

type Call = Pick<Approval, "kind" | "tool" | "input" | "folder"> & { plan?: string | undefined };

/** What a call is about, in one line: what one would look at first. */
export function describeCall({ kind, tool, input, plan, folder }: Call): string {
  if (kind === "plan") return firstLine(plan ?? text(input["plan"]) ?? "").replace(/^#+\s*/, "");
  if (kind === "question") {
    const [first, ...others] = (input["questions"] as { question?: string }[] | undefined) ?? [];
    return `${first?.question ?? ""}${others.length > 0 ? ` (and ${others.length} more)` : ""}`;
  }
  const path = text(input["file_path"]) ?? text(input["notebook_path"]);
  if (path !== undefined) return within(folder, path);
  const subject =
    text(input["command"]) ??
    text(input["url"]) ??
    text(input["query"]) ??
    text(input["pattern"]) ??
    Object.values(input).find((value) => typeof value === "string");
  return firstLine(typeof subject === "string" ? subject : tool);
}

/** What people call it. */
export const nameOfKind = ({ kind, tool, mcp_server_name }: Pick<Approval, "kind" | "tool" | "mcp_server_name">) => {
  if (kind === "plan") return "Plan";
  if (kind === "question") return "Question";
  return mcp_server_name === undefined ? tool : `${mcp_server_name} · ${tool.split("__").at(-1)!}`;
};

/** A path as it is called in the session's own folder. */
export const within = (folder: string, path: string): string =>
  path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;

/** Whether what a call does can be undone; undefined where it changes nothing. */
export function undoWords({ tool, input, folder }: Pick<Approval, "tool" | "input" | "folder">): string | undefined {
  const path = text(input["file_path"]) ?? text(input["notebook_path"]);
  if (/^(Edit|MultiEdit|Write|NotebookEdit)$/.test(tool) && path !== undefined) {
    const isWithin = !path.split("/").includes("..") && (path.startsWith(`${folder}/`) || !path.startsWith("/"));
    return isWithin
      ? "A rewind undoes it, unless git ignores the file."
      : "It is not in the session’s folder: a rewind does not undo it.";
  }
  if (tool === "Bash")
    return "A rewind undoes what it changes in the session’s folder, but for what git ignores, and nothing beyond that.";
  return tool.startsWith("mcp__") ? "What it does elsewhere, a rewind does not undo." : undefined;
}

export const ruleText = ({ tool, pattern }: { tool: string; pattern?: string | undefined }): string =>
  pattern === undefined ? tool : `${tool}(${pattern})`;

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const firstLine = (words: string): string => visibleSigns(words.trimStart().split("\n", 1)[0]!);
