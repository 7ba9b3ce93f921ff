import { z } from "zod";

const trust = z
  .object({
    folder: z.string(),
    state: z.enum(["trusted", "untrusted", "changed", "empty", "refused"]),
    since: z.string().nullable(),
    reason: z.string().nullable(),
    files: z.array(z.string()),
    identity: z.string().nullable(),
  })
  .meta({
    id: "Trust",
    description:
      "Whether settings, hooks, MCP servers and skills of a folder act in sessions, and which files those are.",
  });
export type Trust = z.infer<typeof trust>;

export const trustApi = { "trust.retrieve": { query: z.strictObject({ folder: z.string().min(1) }), response: trust } };
