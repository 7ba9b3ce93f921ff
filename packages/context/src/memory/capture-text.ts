import { type CapturedText, newId } from "@tandem/protocol";
import { z } from "zod";
import { suspicionOf } from "../untrusted/suspicion.ts";
import type { Run } from "../runs/job-run.ts";
import { findAlike, findContradictions } from "./find-contradictions.ts";
import { foundMemory, type FoundMemory } from "./found-memory.ts";
import { Memories } from "./memories.ts";
import { type MemoryScope, noAgent, scoped } from "../formats/memory-file.ts";
import { expiryAfter, type MemoryParts } from "./memory-parts.ts";
import { proposeMemories } from "./propose-memories.ts";
import { proposedBefore } from "./proposed-statements.ts";
import { titleOf } from "./remember.ts";
import { saysTheSame } from "./statement.ts";

const checked = z.object({ memory: foundMemory, unchecked: z.string().optional() });

/** Proposes a statement submitted by an agent. It is unverified, so a person must review it, whatever the rules. */
export async function captureText(
  run: Run,
  parts: MemoryParts,
  given: { text: string; scope: MemoryScope; agent?: string; by: string },
): Promise<CapturedText> {
  const { context, store, settings, now = () => new Date() } = parts;
  const { by, agent } = given;
  if (given.scope === "agent" && agent === undefined) throw noAgent();
  const text = given.text.trim().toWellFormed();
  const wanted = { text, ...scoped(given.scope, { agent, user: context.user }) };
  const memories = new Memories(context.folder);
  const same = (await memories.own()).find((memory) => saysTheSame(memory, wanted));
  if (same) return { known: same.id, proposals: [], contradicts: same.contradicts };
  const before = await proposedBefore(store.records, context.id, wanted);
  if (before) return { before, proposals: [], contradicts: [] };
  // Keyed by job: a resumed job proposes the same without another model request.
  const { memory, unchecked } = await run.step("memory-text", { job: run.job, wanted, by }, checked, async () => {
    const at = now();
    const alike = await findAlike({ memories, search: context.search }, text, { now: at, agent, signal: run.signal });
    const contradictions = await findContradictions(run.llm, wanted, alike, run.signal);
    const suspicion = suspicionOf(text);
    const found: FoundMemory = {
      ...wanted,
      id: newId("memory", at.getTime()),
      corrects: null,
      tags: [],
      createdAt: at.toISOString(),
      expiresAt: expiryAfter(settings.expiryDays, at),
      sources: [{ type: "agent", name: by, at: at.toISOString() }],
      contradicts: contradictions.memories.map(({ id }) => id),
      doubt: `It is an agent's word.${suspicion === null ? "" : ` Its text ${suspicion}.`}`,
    };
    return { memory: found, unchecked: contradictions.unchecked };
  });
  const proposals = await proposeMemories(run, parts, [memory], {
    title: titleOf("Remember", text),
    summary: `Handed in by ${by}.`,
  });
  return {
    proposals: proposals.map(({ id }) => id),
    contradicts: memory.contradicts,
    ...(unchecked !== undefined && { unchecked }),
  };
}
