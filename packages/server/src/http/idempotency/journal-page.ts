import { z } from "zod";

/** Answers are kept for a day. */
export const expiryMs = 24 * 3_600_000;

const journalEntry = z.object({
  id: z.string(),
  begun: z.number(),
  /** The number of the try that was entered, if it was a retry: its first try had not been entered yet. */
  by: z.number().optional(),
  /** Ids that replace the derived ones, by kind. */
  ids: z.record(z.string(), z.string()).optional(),
  /** How often another process took over the request, because the last one seemed dead. */
  takeovers: z.number().optional(),
  /** Grows while the request runs. */
  beat: z.number(),
  answered: z.number().optional(),
  /** The answer's JSON. */
  answer: z.string().optional(),
  /** Why the answer is not kept. `repeatable`: the request is executed again with the same ids. */
  omitted: z.enum(["large", "secret", "repeatable"]).optional(),
  /** The connection closed before the answer was written, or it is not known whether the request had its effect. */
  isLost: z.boolean().optional(),
  /** The tries that have been given this answer. Each number is used once, so that two equal requests stay two. */
  used: z.array(z.number()),
});
export type JournalEntry = z.infer<typeof journalEntry>;

/** The requests with one `Idempotency-Key`, or with the same token, address and body. */
export const journalPage = z.object({
  /** A hash of token, address and body. */
  request: z.string(),
  entries: z.array(journalEntry),
});
export type JournalPage = z.infer<typeof journalPage>;
