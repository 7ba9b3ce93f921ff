import { z } from "zod";
import { evidence } from "../evidence.ts";

/** `memory/<id>.md`: front matter and one statement in Markdown. */
export const memoryFrontMatter = z.strictObject({
  id: z.string(),
  scope: z.enum(["user", "project", "agent"]),
  /** For scope `agent`: its name. */
  agent: z.string().optional(),
  tags: z.array(z.string()).default([]),
  createdAt: z.string(),
  /** Null: it holds until somebody changes it. */
  expiresAt: z.string().nullable(),
  sources: z.array(evidence),
  /** Ids of memories that say otherwise; both are shown until a person decides. */
  contradicts: z.array(z.string()).default([]),
});

export interface MemoryFile extends z.output<typeof memoryFrontMatter> {
  text: string;
}
