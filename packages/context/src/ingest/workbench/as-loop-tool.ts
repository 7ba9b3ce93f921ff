import { defineTool, type Tool } from "@tandem/runtime";
import type { ContextTool } from "../../tools/context-tool.ts";
import { asQuotation } from "../triage/as-quotation.ts";

/** A tool over the context, for an agent loop of ours. What it finds was written by others, and is shown as a quotation. */
export const asLoopTool = (tool: ContextTool): Tool =>
  defineTool({
    name: tool.name,
    description: tool.description,
    schema: tool.input,
    execute: async (given, { signal }) => {
      const { markdown, structured } = await tool.run(given, { signal, by: "ingest" });
      return { markdown: asQuotation("result", {}, markdown), structured };
    },
  });
