import { z } from "zod";

/** What an agent has made of a file, beside what it was when the agent began: part of what a step keeps. */
export const pageChange = z.strictObject({
  path: z.string(),
  before: z.string().nullable(),
  /** Null: it goes. */
  after: z.string().nullable(),
  /** Citations that were named as reasons for the change, beside those in the text. */
  basis: z.array(z.string()),
});
export type PageChange = z.output<typeof pageChange>;
