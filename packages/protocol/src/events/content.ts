import { z } from "zod";

// The content of messages and tool results, in the shapes of Anthropic's Managed Agents API.

export const textBlock = z.strictObject({ type: z.literal("text"), text: z.string() }).meta({ id: "TextBlock" });

const base64Source = z.strictObject({ type: z.literal("base64"), media_type: z.string(), data: z.base64() });
const urlSource = z.strictObject({ type: z.literal("url"), url: z.url({ protocol: /^https?$/ }) });
const fileSource = z.strictObject({ type: z.literal("file"), file_id: z.string() });
const plainTextSource = z.strictObject({
  type: z.literal("text"),
  media_type: z.literal("text/plain"),
  data: z.string(),
});

export const imageBlock = z
  .strictObject({
    type: z.literal("image"),
    source: z.discriminatedUnion("type", [base64Source, urlSource, fileSource]),
  })
  .meta({ id: "ImageBlock" });

export const documentBlock = z
  .strictObject({
    type: z.literal("document"),
    source: z.discriminatedUnion("type", [base64Source, plainTextSource, urlSource, fileSource]),
    title: z.string().nullish(),
    context: z.string().nullish(),
  })
  .meta({ id: "DocumentBlock" });

const searchResultBlock = z
  .strictObject({
    type: z.literal("search_result"),
    source: z.string(),
    title: z.string(),
    content: z.array(z.strictObject({ type: z.literal("text"), text: z.string() })),
    citations: z.strictObject({ enabled: z.boolean() }),
  })
  .meta({ id: "SearchResultBlock" });

export const userContent = z.discriminatedUnion("type", [textBlock, imageBlock, documentBlock]);
export const toolResultContent = z.discriminatedUnion("type", [
  textBlock,
  imageBlock,
  documentBlock,
  searchResultBlock,
]);

export type TextBlock = z.infer<typeof textBlock>;
export type UserContent = z.infer<typeof userContent>;
export type ToolResultContent = z.infer<typeof toolResultContent>;
