import { RequestError } from "@tandem/protocol";
import type { JudgedCall } from "./session-rules.ts";
import { FILE_TOOLS, KNOWN_TOOLS, NAME_FIELDS } from "./tool-kinds.ts";

const FIELDS: Readonly<Record<string, string>> = {
  Bash: "command",
  Monitor: "command",
  WebFetch: "url",
  WebSearch: "query",
  ...Object.fromEntries(Object.entries(FILE_TOOLS).map(([tool, { field }]) => [tool, field])),
  ...NAME_FIELDS,
};

/**
 * Parses a call as people write it: `Bash(git push)`, `Edit(src/a.ts)`, `WebFetch(https://example.com/)`, `mcp__github__merge`.
 */
export function readCall(text: string): JudgedCall {
  const found = /^([\w.-]+)(?:\(([^]*)\))?$/.exec(text.trim());
  const tool = found?.[1] ?? "";
  const about = found?.[2];
  const mcp = /^mcp__(.+?)__(.+)$/.exec(tool);
  if (mcp) return { name: mcp[2]!, mcpServer: mcp[1]!, input: readInput(about), thread: null };
  if (!KNOWN_TOOLS.includes(tool)) {
    throw new RequestError("invalid_request", `\`${text}\` is not a call.`, {
      fix: "Write it as `Bash(git push)`, `Edit(src/a.ts)`, `WebFetch(https://example.com/)` or `mcp__SERVER__TOOL`.",
    });
  }
  const field = Object.hasOwn(FIELDS, tool) ? FIELDS[tool] : undefined;
  return { name: tool, input: field !== undefined && about !== undefined ? { [field]: about } : {}, thread: null };
}

/** Parses the JSON input of an MCP call. */
function readInput(text: string | undefined): Record<string, unknown> {
  if (text === undefined || text === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // The error is thrown below.
  }
  throw new RequestError("invalid_request", "Between the parentheses of an MCP tool, an object in JSON is expected.");
}
