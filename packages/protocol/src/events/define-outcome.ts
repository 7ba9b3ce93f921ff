import { z } from "zod";

/** Limits of Anthropic's API. */
const MAX_RUBRIC = 262_144;
const MAX_ITERATIONS = 20;

/** Ours: the description is also stored with the session, so that lists show it. */
const MAX_DESCRIPTION = 65_536;
const MAX_COMMAND = 10_000;
const MAX_SECONDS = 3_600;

const words = (max: number) => z.string().max(max).regex(/\S/, "expected text");

/** A program as grader. It costs no tokens, and its verdict does not depend on a model. */
export const programGrader = z
  .discriminatedUnion("type", [
    /** Satisfied if the command ends with 0. It runs in the session's folder; the end of its output explains the verdict. */
    z.strictObject({
      type: z.literal("command"),
      command: words(MAX_COMMAND),
      timeout_seconds: z.int().min(1).max(MAX_SECONDS).optional(),
    }),
    /** Satisfied if the query returns exactly these rows, by default none. */
    z.strictObject({
      type: z.literal("sql"),
      connection: z.string().min(1),
      query: words(MAX_COMMAND),
      rows: z.array(z.array(z.union([z.string(), z.number(), z.boolean(), z.null()]))).optional(),
    }),
  ])
  .meta({ id: "ProgramGrader" });
export type ProgramGrader = z.infer<typeof programGrader>;

export const userDefineOutcome = z
  .strictObject({
    type: z.literal("user.define_outcome"),
    description: words(MAX_DESCRIPTION),
    rubric: z.discriminatedUnion("type", [
      z.strictObject({ type: z.literal("text"), content: words(MAX_RUBRIC) }),
      z.strictObject({ type: z.literal("file"), file_id: z.string() }),
    ]),
    max_iterations: z.int().min(1).max(MAX_ITERATIONS).nullish(),
    tandem: z
      .strictObject({
        /** Replaces the model as grader. */
        grader: programGrader.optional(),
        /** The sender. The engine overwrites any value that a client sends. */
        by: z.string().optional(),
      })
      .optional(),
  })
  .meta({ id: "UserDefineOutcome" });
