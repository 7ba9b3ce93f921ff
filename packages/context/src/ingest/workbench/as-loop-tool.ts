import { defineTool, type Tool } from "@tandem/runtime";
import { type ContextTool, answerForModel } from "../../context-tool.ts";

/** Adapts a context tool for an agent loop. Its results are untrusted and shown as quotations. */
export const asLoopTool = (tool: ContextTool, { agent }: { agent?: string } = {}): Tool =>
  defineTool({
    name: tool.name,
    description: tool.description,
    schema: tool.input,
    execute: async (given, { signal }) => {
      const output = await tool.run(given, { signal, by: "ingest", agent });
      return { markdown: answerForModel(tool, output), structured: output.structured };
    },
  });
