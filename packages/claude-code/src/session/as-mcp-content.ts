import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { ToolResultContent } from "@tandem/protocol";

/** Converts a result to MCP content. Blocks without an MCP equivalent become text, so that nothing is lost. */
export const asMcpContent = (content: readonly ToolResultContent[]): CallToolResult["content"] =>
  content.map((block) => {
    if (block.type === "text") return block;
    if (block.type === "image" && block.source.type === "base64") {
      return { type: "image", data: block.source.data, mimeType: block.source.media_type };
    }
    if (block.type === "document" && block.source.type === "text") {
      return { type: "text", text: block.title ? `${block.title}\n\n${block.source.data}` : block.source.data };
    }
    if (block.type === "document" && block.source.type === "base64") {
      const { data: blob, media_type: mimeType } = block.source;
      return { type: "resource", resource: { uri: `document:${block.title ?? "untitled"}`, mimeType, blob } };
    }
    return { type: "text", text: JSON.stringify(block) };
  });
