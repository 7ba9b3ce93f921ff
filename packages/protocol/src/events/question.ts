import { z } from "zod";

export { QUESTION_TOOL } from "../words.ts";

const question = z.object({
  question: z.string().min(1),
  header: z.string().optional(),
  options: z
    .array(z.object({ label: z.string(), description: z.string().optional(), preview: z.string().optional() }))
    .default([]),
  multiSelect: z.boolean().default(false),
});
export type Question = z.infer<typeof question>;

/** The input of a question's call. */
export const questionInput = z.object({ questions: z.array(question).min(1) });

/** The text of the answering result: for each question a label, several labels where allowed, or free text. */
export const questionAnswers = z.strictObject({
  answers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
});
