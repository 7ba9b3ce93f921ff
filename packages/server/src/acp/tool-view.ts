import { isAbsolute, resolve } from "node:path";
import type { FilePatch, ToolResultContent } from "@tandem/protocol";
import { QUESTION_TOOL } from "@tandem/protocol";
import type { Piece, ToolCallChange, ToolKind } from "./patch.ts";

/** Fits one line of an editor's panel. */
const MAX_TITLE_LENGTH = 200;

const KINDS: Readonly<Record<string, ToolKind>> = {
  Read: "read",
  NotebookRead: "read",
  Edit: "edit",
  MultiEdit: "edit",
  Write: "edit",
  NotebookEdit: "edit",
  Glob: "search",
  Grep: "search",
  Bash: "execute",
  BashOutput: "execute",
  KillShell: "execute",
  Monitor: "execute",
  WebFetch: "fetch",
  WebSearch: "fetch",
  Agent: "think",
  Task: "think",
  TodoWrite: "think",
  ExitPlanMode: "switch_mode",
  [QUESTION_TOOL]: "think",
};

export interface SeenCall {
  name: string;
  server?: string;
  input: Record<string, unknown>;
}

/** How a call is shown before its result. */
export function callView({ name, server, input }: SeenCall, folder: string): ToolCallChange {
  const locations = locationsOf(input, folder);
  const content = previewOf(name, input, folder);
  return {
    name: server === undefined ? name : `mcp__${server}__${name}`,
    title: server === undefined ? titleOf(name, input) : `${server}: ${name}`,
    kind: server === undefined ? (KINDS[name] ?? "other") : "other",
    input,
    ...(locations.length > 0 && { locations }),
    ...(content.length > 0 && { content }),
  };
}

/** How a result is shown: its output, or the changes it made. */
export function resultView(
  call: SeenCall | undefined,
  result: { content?: readonly ToolResultContent[]; isError: boolean; patch?: FilePatch },
  folder: string,
): ToolCallChange {
  const { content = [], isError, patch } = result;
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  const kind = call?.server === undefined ? KINDS[call?.name ?? ""] : undefined;
  const isVerbatim = kind === "execute" || kind === "read" || kind === "search";
  const said: Piece[] = content.flatMap((block) => pieceOf(block, isVerbatim));
  const hunks = patch && !isError ? diffsOf(patch, folder) : [];
  // The diff shown before the call is still right after success; after a failure the error replaces it.
  const shown = hunks.length > 0 ? hunks : kind === "edit" && !isError ? [] : said;
  return {
    status: isError ? "failed" : "completed",
    ...(shown.length > 0 && { content: shown }),
    ...(text !== "" && { output: text }),
    ...(hunks.length > 0 && patch && { locations: [{ path: absolute(patch.path, folder), ...lineOf(patch) }] }),
  };
}

/** One diff for each hunk, because whole files are not stored. */
export const diffsOf = ({ path, kind, hunks }: FilePatch, folder: string): Piece[] =>
  hunks.map(({ lines }) => ({
    type: "diff",
    path: absolute(path, folder),
    oldText: kind === "create" ? null : linesOf(lines, "-"),
    newText: linesOf(lines, "+"),
  }));

const linesOf = (lines: readonly string[], sign: "+" | "-"): string =>
  lines
    .filter((line) => line.startsWith(" ") || line.startsWith(sign))
    .map((line) => line.slice(1))
    .join("\n");

const lineOf = ({ hunks: [first] }: FilePatch): { line?: number } => (first ? { line: first.new_start } : {});

function titleOf(name: string, input: Record<string, unknown>): string {
  const word = (key: string): string | undefined => (typeof input[key] === "string" ? input[key] : undefined);
  const path = word("file_path") ?? word("notebook_path") ?? word("path");
  switch (name) {
    case "Bash":
      return oneLine(word("command") ?? word("description") ?? name);
    case "Read":
    case "Write":
    case "Edit":
    case "MultiEdit":
    case "NotebookEdit":
      return path === undefined ? name : `${name} ${path}`;
    case "Glob":
    case "Grep":
      return oneLine(`${name} ${word("pattern") ?? ""}${path === undefined ? "" : ` in ${path}`}`);
    case "WebFetch":
      return oneLine(`Fetch ${word("url") ?? ""}`);
    case "WebSearch":
      return oneLine(`Search the web for ${word("query") ?? ""}`);
    case "Agent":
    case "Task":
      return oneLine(word("description") ?? word("subagent_type") ?? "Subagent");
    case "ExitPlanMode":
      return "Ready to begin?";
    case QUESTION_TOOL:
      return oneLine(firstQuestion(input) ?? "A question");
    default:
      return oneLine([name, word("description") ?? word("subject")].filter(Boolean).join(": "));
  }
}

function firstQuestion({ questions }: Record<string, unknown>): string | undefined {
  const [first] = Array.isArray(questions) ? (questions as unknown[]) : [];
  const text = typeof first === "object" && first !== null && "question" in first ? first.question : undefined;
  return typeof text === "string" ? text : undefined;
}

/** The announced changes of a call that edits files; the full text of a plan. */
function previewOf(name: string, input: Record<string, unknown>, folder: string): Piece[] {
  const { file_path: path, old_string: before, new_string: after, content, plan } = input;
  if (name === "ExitPlanMode" && typeof plan === "string") return [{ type: "text", text: plan }];
  if (typeof path !== "string") return [];
  const diff = (oldText: string | null, newText: string): Piece[] => [
    { type: "diff", path: absolute(path, folder), oldText, newText },
  ];
  if (name === "Edit" && typeof before === "string" && typeof after === "string") return diff(before, after);
  if (name === "Write" && typeof content === "string") return diff(null, content);
  return [];
}

function locationsOf(input: Record<string, unknown>, folder: string): { path: string; line?: number }[] {
  const path = [input["file_path"], input["notebook_path"], input["path"]].find((each) => typeof each === "string");
  if (path === undefined) return [];
  const line = input["offset"];
  const isLine = typeof line === "number" && Number.isInteger(line) && line >= 0;
  return [{ path: absolute(path, folder), ...(isLine && { line }) }];
}

function pieceOf(block: ToolResultContent, isVerbatim: boolean): Piece[] {
  switch (block.type) {
    case "text":
      return block.text === "" ? [] : [{ type: "text", text: isVerbatim ? fenced(block.text) : block.text }];
    case "image":
      return block.source.type === "base64"
        ? [{ type: "image", data: block.source.data, mimeType: block.source.media_type }]
        : [];
    case "document":
      return block.source.type === "text" ? [{ type: "text", text: block.source.data }] : [];
    case "search_result":
      return [{ type: "text", text: `[${block.title}](${block.source})` }];
  }
}

/** Output of programs is not Markdown, so it is fenced. */
function fenced(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(Math.max(3, longest + 1));
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}

const absolute = (path: string, folder: string): string => (isAbsolute(path) ? path : resolve(folder, path));

function oneLine(text: string): string {
  const line = text.trim().replace(/\s*\n\s*/g, " ⏎ ");
  return line.length > MAX_TITLE_LENGTH ? `${line.slice(0, MAX_TITLE_LENGTH - 1)}…` : line;
}
