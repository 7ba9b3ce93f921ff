import { z } from "zod";

/** What a line of the context rests on. */
export const evidence = z.discriminatedUnion("type", [
  /** A passage of a source: `citation` is the stable key of the chunk, `sha256` the version of the source that was read. */
  z.strictObject({
    type: z.literal("source"),
    source: z.string(),
    path: z.string(),
    sha256: z.string(),
    citation: z.string(),
    quote: z.string().optional(),
  }),
  /** What the database itself says, or what was measured in it. */
  z.strictObject({
    type: z.literal("database"),
    connection: z.string(),
    table: z.string(),
    column: z.string().optional(),
    /** What was seen, in words: `declared foreign key`, `412 of 412 values found`. */
    finding: z.string(),
  }),
  /** Something that was said or done in a session. */
  z.strictObject({ type: z.literal("event"), session: z.string(), event: z.string(), quote: z.string().optional() }),
  /** Somebody's own words, outside of any session: `tandem remember`. */
  z.strictObject({ type: z.literal("person"), name: z.string(), at: z.string(), quote: z.string().optional() }),
  /** What an agent handed in over the context's tools: its word for it, and nobody else's. */
  z.strictObject({ type: z.literal("agent"), name: z.string(), at: z.string(), quote: z.string().optional() }),
  /** A model's judgement on the evidence beside it; never enough by itself. */
  z.strictObject({ type: z.literal("model"), model: z.string(), role: z.string() }),
]);
export type Evidence = z.output<typeof evidence>;
