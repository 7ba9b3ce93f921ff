import { isWorkerTool, WORKER_TOOLS, type Tool, type WorkerTool } from "@tandem/protocol";
import type { ToolDefinition } from "@tandem/claude-code";
import { offeredTools } from "@tandem/policy";

const text = (description?: string) => ({ type: "string", ...(description !== undefined && { description }) });

const tool = (
  description: string,
  properties: Record<string, unknown>,
  { required = [], readOnly = false }: { required?: string[]; readOnly?: boolean } = {},
): Omit<ToolDefinition, "name"> => ({
  description,
  inputSchema: { type: "object", properties, ...(required.length > 0 && { required }), additionalProperties: false },
  ...(readOnly && { readOnly }),
});

/** The inputs that Anthropic's workers expect. */
const DEFINITIONS: Record<WorkerTool, Omit<ToolDefinition, "name">> = {
  bash: tool("Runs a command in a shell that keeps its folder and variables between calls.", {
    command: text("The command."),
    restart: { type: "boolean", description: "Starts a new shell first." },
    timeout_ms: { type: "integer", description: "Ends the command after this time." },
  }),
  read: tool(
    "Reads a text file.",
    {
      file_path: text(),
      view_range: {
        type: "array",
        items: { type: "integer" },
        minItems: 2,
        maxItems: 2,
        description: "The first and the last line, counted from 1.",
      },
    },
    { required: ["file_path"], readOnly: true },
  ),
  write: tool(
    "Writes a text file, with its parent folders.",
    { file_path: text(), content: text() },
    { required: ["file_path", "content"] },
  ),
  edit: tool(
    "Replaces text in a file. `old_string` must occur once, unless `replace_all` is set.",
    { file_path: text(), old_string: text(), new_string: text(), replace_all: { type: "boolean" } },
    { required: ["file_path", "old_string", "new_string"] },
  ),
  glob: tool(
    "Lists files that match a glob pattern, newest first.",
    { pattern: text(), path: text("The folder to search. Default: the working folder.") },
    { required: ["pattern"], readOnly: true },
  ),
  grep: tool(
    "Searches the contents of files for a regular expression.",
    { pattern: text(), path: text("The file or folder to search. Default: the working folder.") },
    { required: ["pattern"], readOnly: true },
  ),
};

/** The tools of an agent that a worker runs. */
export function workerTools(tools: readonly Tool[]): ToolDefinition[] {
  const offered = offeredTools(tools, false);
  return Object.entries(DEFINITIONS).flatMap(([name, definition]) =>
    isWorkerTool(name) && offered.includes(WORKER_TOOLS[name]) ? [{ name, ...definition }] : [],
  );
}
