import { MEMORY_SCOPES, type MemoryId } from "@tandem/protocol";
import { z } from "zod";
import { evidence } from "../evidence.ts";
import type { FileProblem } from "../file-problem.ts";
import { readFrontMatter, writeFrontMatter } from "../page-head.ts";

export { MEMORY_SCOPES } from "@tandem/protocol";

/** For whom a memory holds: one user, the project and all its agents, or one agent. */
export type MemoryScope = (typeof MEMORY_SCOPES)[number];

/** `memory/<id>.md`: front matter and one statement in Markdown. */
const memoryFrontMatter = z.object({
  id: z.string(),
  scope: z.enum(MEMORY_SCOPES),
  /** For scope `agent`: its name. */
  agent: z.string().optional(),
  /** For scope `user`: their account's name; absent where nobody wrote it down, and then it is for every user. */
  user: z.string().optional(),
  /** The memory store that it was put into over the API, and its path there; absent for the context's own. */
  store: z.string().optional(),
  path: z.string().optional(),
  tags: z.array(z.string()).default([]),
  createdAt: z.string(),
  updatedAt: z.string().optional(),
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
  if (!read.success) return read;
  // What a program put at a path is given back to the byte; a statement of a person or a model is trimmed.
  const body = read.value.path === undefined ? read.body.trim() : read.body.replace(/^\r?\n/, "").replace(/\n$/, "");
  return { success: true, memory: { ...read.value, text: body } };
}

/** What stood in the file under names of a person's own stays. */
export function renderMemory({ text, ...frontMatter }: MemoryFile, existing?: string): string {
  const head = existing === undefined ? undefined : headOf(existing);
  const body = frontMatter.path === undefined ? text.trim() : text;
  const optional = { agent: undefined, user: undefined, store: undefined, path: undefined, updatedAt: undefined };
  return writeFrontMatter(head, { ...optional, ...frontMatter }, `\n${body}\n`);
}

/** Without the body, whose line ends are its own affair. */
function headOf(text: string): string {
  const read = readFrontMatter(text, z.unknown());
  return read.success ? text.slice(0, text.length - read.body.length) : "";
}

export const isExpired = ({ expiresAt }: Pick<MemoryFile, "expiresAt">, now: Date): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= now.getTime();

/** Whoever asks: the account that Tandem runs under, and the agent whose session it is, if it is one. */
export interface MemoryReader {
  user?: string;
  agent?: string;
}

/** Whether a memory is for whoever asks. */
export function holdsFor(
  { scope, agent, user }: Pick<MemoryFile, "scope" | "agent" | "user">,
  reader: MemoryReader,
): boolean {
  if (scope === "agent") return agent !== undefined && agent === reader.agent;
  return scope === "project" || user === undefined || user === reader.user;
}

/** What says for whom a new memory is. */
export const scoped = (
  scope: MemoryScope,
  { agent, user }: MemoryReader,
): Pick<MemoryFile, "scope" | "agent" | "user"> => ({
  scope,
  ...(scope === "agent" && { agent }),
  ...(scope === "user" && user !== undefined && { user }),
});
