import { z } from "zod";

/** `wiki/<key>.md`: front matter and Markdown. Claims end with the citations they rest on: `[^handbook/refunds#policy]`. */
export const pageFrontMatter = z.strictObject({
  summary: z.string(),
  tags: z.array(z.string()).default([]),
  /** Keys of other pages (`page:refunds`) and tables (`table:shop/public.orders`). */
  refs: z.array(z.string()).default([]),
  /** Of each citation in the text: which version of which source. */
  sources: z.array(z.strictObject({ citation: z.string(), path: z.string(), sha256: z.string() })).default([]),
});
export type PageFrontMatter = z.output<typeof pageFrontMatter>;

export interface PageFile extends PageFrontMatter {
  /** The file's name without `.md`: small letters, digits and `-`, and `/` for folders. */
  key: string;
  title: string;
  body: string;
}
