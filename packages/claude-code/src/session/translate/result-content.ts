import type { ToolResultContent } from "@tandem/protocol";
import { z } from "zod";

const base64 = z.object({ type: z.literal("base64"), media_type: z.string(), data: z.string() });
const url = z.object({ type: z.literal("url"), url: z.string() });
const plainText = z.object({ type: z.literal("text"), media_type: z.literal("text/plain"), data: z.string() });

const block = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image"), source: z.discriminatedUnion("type", [base64, url]) }),
  z.object({
    type: z.literal("document"),
    source: z.discriminatedUnion("type", [base64, url, plainText]),
    title: z.string().nullish(),
    context: z.string().nullish(),
  }),
  z.object({
    type: z.literal("search_result"),
    source: z.string(),
    title: z.string(),
    content: z.array(z.object({ type: z.literal("text"), text: z.string() })),
    citations: z.object({ enabled: z.boolean() }),
  }),
]);

/** Content of a tool's result. Unknown blocks are kept as JSON. */
export function resultContent(content: unknown): ToolResultContent[] {
  if (content === undefined || content === null || content === "") return [];
  if (typeof content === "string") return [{ type: "text", text: content }];
  const blocks: unknown[] = Array.isArray(content) ? content : [content];
  return blocks.map((item) => block.safeParse(item).data ?? { type: "text", text: JSON.stringify(item) });
}
