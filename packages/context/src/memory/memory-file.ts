import type { MemoryId } from "@tandem/protocol";
import { z } from "zod";
import { evidence } from "../evidence.ts";
import type { FileProblem } from "../file-problem.ts";
import { readFrontMatter, writeFrontMatter } from "../front-matter.ts";

/** `memory/<id>.md`: front matter and one statement in Markdown. */
export const memoryFrontMatter = z.object({
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

export type ParsedMemory = { success: true; memory: MemoryFile } | { success: false; problems: FileProblem[] };

export const memoryPath = (id: MemoryId | string): string => `memory/${id}.md`;

export function parseMemory(text: string): ParsedMemory {
  const read = readFrontMatter(text, memoryFrontMatter);
  return read.success ? { success: true, memory: { ...read.value, text: read.body.trim() } } : read;
}

/** What stood in the file under names of a person's own stays. */
export function renderMemory({ text, ...frontMatter }: MemoryFile, existing?: string): string {
  return writeFrontMatter(existing, { agent: undefined, ...frontMatter }, `\n${text.trim()}\n`);
}
