import { isDeepStrictEqual } from "node:util";
import type { McpTool } from "@tandem/claude-code";

const LONGEST = 300;

/** Describes the differences between two definitions of a server's tools, one line each. */
export function describeChanges(before: readonly McpTool[], after: readonly McpTool[]): string[] {
  const known = new Map(before.map((tool) => [tool.name, tool]));
  const changes: string[] = [];
  for (const tool of after) {
    const old = known.get(tool.name);
    known.delete(tool.name);
    if (!old) {
      changes.push(`${tool.name} is new: ${quoted(tool.description)}`);
      continue;
    }
    if (old.description !== tool.description) {
      changes.push(`${tool.name} is described as ${quoted(tool.description)}, not as ${quoted(old.description)}`);
    }
    if (!isDeepStrictEqual(old.inputSchema, tool.inputSchema)) changes.push(`${tool.name} has another input schema`);
    if (!isDeepStrictEqual(old.annotations, tool.annotations)) changes.push(`${tool.name} has other annotations`);
  }
  for (const name of known.keys()) changes.push(`${name} was removed`);
  return changes;
}

const quoted = (text = ""): string => JSON.stringify(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
