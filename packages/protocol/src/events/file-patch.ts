import { z } from "zod";

const hunk = z.strictObject({
  old_start: z.int(),
  old_lines: z.int(),
  new_start: z.int(),
  new_lines: z.int(),
  lines: z.array(z.string()),
});
export const filePatch = z.strictObject({ path: z.string(), kind: z.enum(["create", "update"]), hunks: z.array(hunk) });
export type FilePatch = z.infer<typeof filePatch>;
