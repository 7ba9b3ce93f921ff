import { z } from "zod";

/** The evidence for a line of the context. */
export const evidence = z.discriminatedUnion("type", [
  /** A passage of a source: `citation` is the stable key of the chunk, `sha256` the version of the source. */
  z.strictObject({
    type: z.literal("source"),
    source: z.string(),
    path: z.string(),
    sha256: z.string(),
    citation: z.string(),
    quote: z.string().optional(),
  }),
  /** A fact from the database's schema, or a measurement in it. */
  z.strictObject({
    type: z.literal("database"),
    connection: z.string(),
    table: z.string(),
    column: z.string().optional(),
    /** The finding as text: `declared foreign key`, `412 of 412 values found`. */
    finding: z.string(),
  }),
  /** A message or an action in a session. */
  z.strictObject({ type: z.literal("event"), session: z.string(), event: z.string(), quote: z.string().optional() }),
  /** A person's own words, outside a session: `tandem context remember`. */
  z.strictObject({ type: z.literal("person"), name: z.string(), at: z.string(), quote: z.string().optional() }),
  /** A claim that an agent submitted through the context tools, without other evidence. */
  z.strictObject({ type: z.literal("agent"), name: z.string(), at: z.string(), quote: z.string().optional() }),
  /** A model's judgement on the evidence beside it; never enough by itself. */
  z.strictObject({ type: z.literal("model"), model: z.string(), role: z.string() }),
]);
export type Evidence = z.output<typeof evidence>;
