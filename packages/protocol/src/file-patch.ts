import { z } from "zod";
import type { FilePatch } from "./session-event.ts";

const hunk = z.strictObject({
  old_start: z.int(),
  old_lines: z.int(),
  new_start: z.int(),
  new_lines: z.int(),
  lines: z.array(z.string()),
});
export const filePatch: z.ZodType<FilePatch> = z.strictObject({
  path: z.string(),
  kind: z.enum(["create", "update"]),
  hunks: z.array(hunk),
});
