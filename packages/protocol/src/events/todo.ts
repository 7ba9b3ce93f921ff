import { z } from "zod";

export const todo = z.strictObject({
  id: z.string(),
  content: z.string(),
  status: z.enum(["pending", "in_progress", "completed"]),
  active_form: z.string().optional(),
});
export type Todo = z.infer<typeof todo>;
