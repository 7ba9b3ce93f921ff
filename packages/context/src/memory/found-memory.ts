import { z } from "zod";
import { evidence, type Evidence } from "../evidence.ts";
import { suspicionOf } from "../untrusted/suspicion.ts";
import type { Decision } from "../proposals/proposal.ts";
import type { Draft } from "../draft.ts";
import { draftChange, draftMemory } from "./draft-memory.ts";
import type { StoredMemory } from "./memories.ts";
import { MEMORY_SCOPES, type MemoryFile } from "../formats/memory-file.ts";
import { isInOwnWords } from "./own-words.ts";
import type { Passage, Speaker } from "./session-passages.ts";

/** A memory, or a correction, proposed by an agent. */
export const foundMemory = z.strictObject({
  id: z.string(),
  /** Id of the memory that it replaces. */
  corrects: z.string().nullable(),
  text: z.string(),
  scope: z.enum(MEMORY_SCOPES),
  agent: z.string().optional(),
  user: z.string().optional(),
  tags: z.array(z.string()),
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
  sources: z.array(evidence),
  contradicts: z.array(z.string()),
  /** Why no rule may accept it; null if a user said it literally. */
  doubt: z.string().nullable(),
});
export type FoundMemory = z.output<typeof foundMemory>;

const SPOKEN: Readonly<Record<Speaker, string>> = {
  user: "what the user said",
  attachment: "an attachment",
  denial: "why a call was denied",
  agent: "the agent's own words",
  "tool call": "a tool call",
  "tool result": "the result of a tool",
};

/** Reasons against trusting a statement as the user's; null if there are none. */
export function doubtAbout(text: string, cited: readonly Passage[]): string | null {
  const suspicion = [text, ...cited.map((passage) => passage.text)].map(suspicionOf).find((found) => found !== null);
  if (suspicion !== undefined) return `A text that it rests on ${suspicion}.`;
  const said = cited.filter(({ speaker }) => speaker === "user").map((passage) => passage.text);
  if (said.length === 0) {
    const on = [...new Set(cited.map(({ speaker }) => SPOKEN[speaker]))].join(" and ");
    return `It rests on ${on} alone.`;
  }
  return isInOwnWords(text, said) ? null : "The user did not say it in these words.";
}

/** One draft per file, even if several memories touch it. */
export function draftsOf(found: readonly FoundMemory[], known: readonly StoredMemory[]): Draft[] {
  const byId = new Map(known.map((memory) => [memory.id, memory]));
  const changes = new Map<string, { change: Partial<MemoryFile>; evidence: Evidence[] }>();
  const alter = (id: string, sources: readonly Evidence[], make: (memory: MemoryFile) => Partial<MemoryFile>) => {
    const memory = byId.get(id);
    if (!memory) return;
    const before = changes.get(id) ?? { change: {}, evidence: [] };
    const change = { ...before.change, ...make({ ...memory, ...before.change }) };
    changes.set(id, { change, evidence: [...before.evidence, ...sources] });
  };
  const added = found.flatMap(({ corrects, contradicts, id, scope, agent, user, ...said }): Draft[] => {
    const { text, tags, createdAt, expiresAt, sources } = said;
    const whose = { scope, ...(agent !== undefined && { agent }), ...(user !== undefined && { user }) };
    const about = { id, ...whose, tags, createdAt, expiresAt, sources };
    const memory: MemoryFile = { ...about, contradicts: [], text };
    const others = contradicts.flatMap((other) => byId.get(other) ?? []);
    for (const other of others) {
      alter(other.id, memory.sources, ({ contradicts: links }) => ({
        contradicts: [...new Set([...links, memory.id])],
      }));
    }
    if (corrects === null) return draftMemory(memory, others).slice(0, 1);
    alter(corrects, memory.sources, ({ sources, contradicts: links }) => ({
      text: memory.text,
      updatedAt: memory.createdAt,
      sources: [...sources, ...memory.sources],
      contradicts: [...new Set([...links, ...others.map((other) => other.id)])],
    }));
    return [];
  });
  const altered = [...changes].map(([id, { change, evidence: rests }]) => draftChange(byId.get(id)!, change, rests));
  return [...added, ...altered];
}

/** Both sides of each contradiction, for a person to decide. */
export function decisionsOf(found: readonly FoundMemory[], known: readonly StoredMemory[]): Decision[] {
  const pairs = found.flatMap((memory) =>
    known.filter(({ id }) => memory.contradicts.includes(id)).map((other) => ({ memory, other })),
  );
  return pairs.map(({ memory, other }, at) => ({
    id: String(at + 1),
    kind: "contradiction",
    about: `memory:${other.id}`,
    question: "Which of the two holds?",
    sides: [
      { claim: other.text, evidence: other.sources },
      { claim: memory.text, evidence: memory.sources },
    ],
    answer: null,
  }));
}
