import { MEMORY_SCOPES, RequestError, type MemoryId } from "@tandem/protocol";
import { z } from "zod";
import { evidence } from "../evidence.ts";
import type { FileProblem } from "./file-problem.ts";
import { readFrontMatter, writeFrontMatter } from "./page-head.ts";

export { MEMORY_SCOPES } from "@tandem/protocol";

/** Scope of a memory: one user, the project with all its agents, or one agent. */
export type MemoryScope = (typeof MEMORY_SCOPES)[number];

/** `memory/<id>.md`: front matter and one statement in Markdown. */
const memoryFrontMatter = z.object({
  id: z.string(),
  scope: z.enum(MEMORY_SCOPES),
  /** For scope `agent`: its name. */
  agent: z.string().optional(),
  /** For scope `user`: the account's name; absent means every user. */
  user: z.string().optional(),
  /** Store and path for memories created over the API; absent for the context's own. */
  store: z.string().optional(),
  path: z.string().optional(),
  tags: z.array(z.string()).default([]),
  createdAt: z.string(),
  updatedAt: z.string().optional(),
  /** Null: never expires. */
  expiresAt: z.string().nullable(),
  sources: z.array(evidence),
  /** Ids of contradicting memories; both are shown until a person decides. */
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
  // Content at a path is returned byte for byte; other statements are trimmed.
  const body = read.value.path === undefined ? read.body.trim() : read.body.replace(/^\r?\n/, "").replace(/\n$/, "");
  return { success: true, memory: { ...read.value, text: body } };
}

/** Keeps a person's own keys in the file. */
export function renderMemory({ text, ...frontMatter }: MemoryFile, existing?: string): string {
  const head = existing === undefined ? undefined : headOf(existing);
  const body = frontMatter.path === undefined ? text.trim() : text;
  const optional = { agent: undefined, user: undefined, store: undefined, path: undefined, updatedAt: undefined };
  return writeFrontMatter(head, { ...optional, ...frontMatter }, `\n${body}\n`);
}

/** Without the body, whose line ends are kept as they are. */
function headOf(text: string): string {
  const read = readFrontMatter(text, z.unknown());
  return read.success ? text.slice(0, text.length - read.body.length) : "";
}

export const isExpired = ({ expiresAt }: Pick<MemoryFile, "expiresAt">, now: Date): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= now.getTime();

/** The reader: the account that runs Tandem, and the session's agent, if any. */
export interface MemoryReader {
  user?: string;
  agent?: string;
}

/** Whether a memory applies to the reader. */
export function holdsFor(
  { scope, agent, user }: Pick<MemoryFile, "scope" | "agent" | "user">,
  reader: MemoryReader,
): boolean {
  if (scope === "agent") return agent !== undefined && agent === reader.agent;
  return scope === "project" || user === undefined || user === reader.user;
}

/** Scope fields of a new memory. */
export const scoped = (
  scope: MemoryScope,
  { agent, user }: MemoryReader,
): Pick<MemoryFile, "scope" | "agent" | "user"> => ({
  scope,
  ...(scope === "agent" && { agent }),
  ...(scope === "user" && user !== undefined && { user }),
});

/** The calling agent is unknown: an external MCP client is not one of our agents. */
export const noAgent = (): RequestError =>
  new RequestError("invalid_request", "Only a session of an agent can remember something for that agent alone.", {
    fix: "Use the scope project or user.",
  });
