import type { HostServer } from "@tandem/claude-code";
import { answerForModel, type ContextTool } from "@tandem/context";
import { TandemError } from "@tandem/protocol";
import { z } from "zod";

export interface ContextServerOptions {
  tools: readonly ContextTool[];
  /** The calling session, recorded with every write. */
  session: string;
  /** The session's agent. It also finds memories of that agent only. */
  agent: string | undefined;
  timeoutMs: number;
  log: { warn(details: Record<string, unknown>, message: string): void };
}

/** The context tools as an MCP server for sessions: `mcp__context__context_search` and so on. */
export const contextServer = ({ tools, session, agent, timeoutMs, log }: ContextServerOptions): HostServer => ({
  name: "context",
  timeoutMs,
  tools: tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: schemaOf(tool),
    readOnly: tool.readOnly,
    run: async (input, signal) => {
      try {
        const output = await tool.run(input, { signal, by: `session ${session}`, agent });
        return { text: answerForModel(tool, output), isError: false };
      } catch (error) {
        if (error instanceof TandemError) return { text: [error.message, error.fix].join(" ").trim(), isError: true };
        log.warn({ tool: tool.name, session, error: String(error) }, "a tool failed unexpectedly");
        return { text: "The tool failed unexpectedly. The server's log says why.", isError: true };
      }
    },
  })),
});

/** Omit `$schema`: Claude Code supports only some drafts of JSON Schema. */
function schemaOf({ input }: ContextTool): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: "input" });
  return schema;
}
