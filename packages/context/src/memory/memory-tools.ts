import { nearest, newId, TandemError } from "@tandem/protocol";
import { defineTool, type Tool } from "@tandem/runtime";
import { z } from "zod";
import type { Evidence } from "../evidence.ts";
import { asQuotation } from "../untrusted/as-quotation.ts";
import { asLoopTool } from "../ingest/workbench/as-loop-tool.ts";
import { pageTool } from "../tools/page-tool.ts";
import { searchTool } from "../tools/search-tool.ts";
import { findAlike } from "./find-contradictions.ts";
import { doubtAbout, type FoundMemory } from "./found-memory.ts";
import { expiryAfter, type MemoryParts } from "./memory-parts.ts";
import { Memories } from "./memories.ts";
import { holdsFor, MEMORY_SCOPES, scoped } from "../formats/memory-file.ts";
import { proposedBefore } from "./proposed-statements.ts";
import { MAX_STATEMENT } from "./remember.ts";
import type { Passage } from "./session-passages.ts";
import { saysTheSame, type Statement } from "./statement.ts";

/** More memories from one session would be a transcript. */
const MOST = 10;
const MAX_QUOTE = 300;

const statement = z.string().min(6).max(MAX_STATEMENT).describe("One statement that can be understood by itself.");
const eventIds = z.array(z.string().min(1).max(100)).min(1).max(10).describe("Ids of the events that justify it.");
const memoryIds = z.array(z.string().min(1).max(100)).max(10).default([]);
// Single words, so that they cannot carry instructions.
const tags = z
  .array(z.string().regex(/^[\p{L}\p{N}][\p{L}\p{N}_-]{0,30}$/u))
  .max(5)
  .default([]);

/** Tools of the memory agent. Results are collected in `found`; nothing is written. */
export function memoryTools(
  parts: MemoryParts,
  session: { id: string; agent: string },
  passages: readonly Passage[],
  found: Map<string, FoundMemory>,
): Tool[] {
  const { context, store, settings, now = () => new Date() } = parts;
  const memories = new Memories(context.folder);

  function cite(ids: readonly string[]): Passage[] {
    const known = [...new Set(passages.map(({ event }) => event))];
    return [...new Set(ids)].flatMap((id) => {
      const cited = passages.filter(({ event }) => event === id);
      if (cited.length > 0) return cited;
      const meant = nearest(id, known);
      throw new TandemError("unknown_event", `There is no event ${id} in what you read.`, {
        fix: meant ? `Did you mean ${meant}?` : "Take the ids from the passages.",
      });
    });
  }

  /** Only memories that apply to this session's user and agent. */
  async function findOwn(id: string) {
    const memory = await memories.get(id);
    return memory && holdsFor(memory, { agent: session.agent, user: context.user }) ? memory : undefined;
  }

  async function require(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      if (await findOwn(id)) continue;
      throw new TandemError("unknown_memory", `There is no memory ${id}.`, { fix: "Look with memory_search." });
    }
  }

  const sourcesOf = (cited: readonly Passage[]): Evidence[] =>
    cited.map(({ event, text }) => ({
      type: "event",
      session: session.id,
      event,
      quote: text.slice(0, MAX_QUOTE).toWellFormed(),
    }));

  function room(key: string): void {
    if (found.has(key) || found.size < MOST) return;
    throw new TandemError("too_many", `There are ${MOST} already: keep the best.`);
  }

  return [
    defineTool({
      name: "memory_search",
      description: "Finds memories that are about the same as some words, with their ids.",
      schema: z.object({ query: z.string().min(1).max(2_000) }),
      execute: async ({ query }, { signal }) => {
        const wanted = { now: now(), agent: session.agent, signal };
        const alike = await findAlike({ memories, search: context.search }, query, wanted);
        const shown = alike.map(({ id, scope, text }) => asQuotation("memory", { id, scope }, text));
        return { markdown: shown.length > 0 ? shown.join("\n\n") : "Nothing of the kind is remembered." };
      },
    }),
    asLoopTool(searchTool(context.search), session),
    asLoopTool(pageTool(context.folder, context.search, context.user), session),
    defineTool({
      name: "memory_propose",
      description:
        "Hands in one statement to be remembered, with the events that justify it. A person reviews it, unless the user said it in just these words.",
      schema: z.object({
        text: statement,
        scope: z.enum(MEMORY_SCOPES).describe("For whom it holds: this user, the whole project, or only this agent."),
        events: eventIds,
        contradicts: memoryIds.describe("Ids of memories that cannot hold if this does."),
        expires_in_days: z
          .int()
          .min(1)
          .max(3_650)
          .nullable()
          .default(null)
          .describe("Only where it will not hold for long."),
        tags,
      }),
      execute: async ({ text, scope, events, contradicts, expires_in_days: days, tags: words }) => {
        const cited = cite(events);
        await require(contradicts);
        const wanted = { text: text.trim(), ...scoped(scope, { agent: session.agent, user: context.user }) };
        const known = (await memories.own()).find((memory) => saysTheSame(memory, wanted));
        if (known) return { markdown: `That is remembered already, as ${known.id}.` };
        if (await proposedBefore(store.records, context.id, wanted)) {
          return { markdown: "That was proposed before; it is not proposed again." };
        }
        const twin = [...found.values()].find((memory) => memory.corrects === null && saysTheSame(memory, wanted));
        const id = twin?.id ?? newId("memory", now().getTime());
        room(id);
        found.set(id, {
          ...wanted,
          id,
          corrects: null,
          tags: words,
          createdAt: now().toISOString(),
          contradicts,
          expiresAt: expiryAfter(days ?? settings.expiryDays, now()),
          sources: sourcesOf(cited),
          doubt: doubtAbout(text, cited),
        });
        return { markdown: `It is handed in as ${id}.` };
      },
    }),
    defineTool({
      name: "memory_correct",
      description: "Hands in what a memory should say instead of what it says now. A person reviews it.",
      schema: z.object({ memory: z.string().min(1).max(100), text: statement, events: eventIds }),
      execute: async ({ memory: id, text, events }) => {
        const cited = cite(events);
        const memory = await findOwn(id);
        if (!memory) await require([id]);
        if (saysTheSame({ ...memory!, text }, memory!)) return { markdown: "That is what it says." };
        const { scope, agent, user } = memory!;
        if (await proposedBefore(store.records, context.id, correction(id, { text, scope, agent, user }))) {
          return { markdown: "That was proposed before; it is not proposed again." };
        }
        room(id);
        found.set(id, {
          id,
          corrects: id,
          text: text.trim(),
          scope,
          ...(agent !== undefined && { agent }),
          ...(user !== undefined && { user }),
          tags: [],
          contradicts: [],
          createdAt: now().toISOString(),
          expiresAt: memory!.expiresAt,
          sources: sourcesOf(cited),
          doubt: doubtAbout(text, cited),
        });
        return { markdown: `The correction of ${id} is handed in.` };
      },
    }),
  ];
}

/** A correction differs from a new memory with the same text. */
export const correction = (id: string, statement: Statement): Statement => ({
  ...statement,
  text: `${id}: ${statement.text}`,
});
