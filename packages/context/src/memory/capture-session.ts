import { type CapturedMemories, LlmError, RequestError, type SessionId } from "@tandem/protocol";
import type { Records } from "@tandem/storage";
import { z } from "zod";
import type { Run } from "../runs/job-run.ts";
import { foundMemory, type FoundMemory } from "./found-memory.ts";
import type { MemoryParts } from "./memory-parts.ts";
import { MEMORY_PROMPT, MEMORY_SYSTEM, memoryPrompt } from "./memory-prompt.ts";
import { memoryTools } from "./memory-tools.ts";
import { proposeMemories } from "./propose-memories.ts";
import { type Passage, readBefore, readPassages } from "./session-passages.ts";

const STAGE = "memory";
const STEP_BUDGET = 20;
/** Characters of a session per agent. */
const PART = 60_000;
/** Maximum of parts per job; the next job reads the rest. */
const MAX_PARTS = 8;
/** Earlier events shown as background. */
const BEFORE = 6;

const KIND = "memory-read";
/** Read position: events up to `seq`, at log length `head`. */
const readRecord = z.object({ seq: z.int(), head: z.int(), isAll: z.boolean(), at: z.string() });
type ReadRecord = z.output<typeof readRecord>;

export async function readUpTo(records: Records, space: string, session: string): Promise<ReadRecord | undefined> {
  const stored = await records.get(space, KIND, session);
  return stored && readRecord.parse(stored.value);
}

/**
 * Lets an agent read the new part of a session and propose memories. The read position is stored only after the
 * proposals: a failure before that reads again, but cached model results are not requested twice.
 */
export async function captureSession(run: Run, parts: MemoryParts, id: string): Promise<CapturedMemories> {
  const { context, store, now = () => new Date() } = parts;
  const row = await store.sessions.get(id);
  if (!row) throw new RequestError("not_found", `There is no session ${id}.`);
  const session: SessionId = row.id;
  const captured: CapturedMemories = { session, parts: 0, found: 0, proposals: [], accepted: 0 };
  let after = (await readUpTo(store.records, context.id, session))?.seq ?? 0;
  run.emit({ type: "stage_started", stage: STAGE, total: null });
  for (let part = 0; part < MAX_PARTS; part += 1) {
    const head = await store.events.head(session);
    const { passages, upTo, isAll } = await readPassages(store.events, session, { after, limit: PART });
    if (passages.length > 0) {
      const before = after === 0 ? [] : await readBefore(store.events, session, { before: after + 1, count: BEFORE });
      const found = await readPart(run, parts, { session, agent: row.agent.name, before, passages, after, upTo });
      const proposals = await proposeMemories(run, parts, found, {
        title: `Memories of session ${session}`,
        summary: `Read from events ${after + 1} to ${upTo} of its log.`,
      });
      captured.parts += 1;
      captured.found += found.length;
      captured.proposals.push(...proposals.map((proposal) => proposal.id));
      captured.accepted += proposals.reduce((sum, { counts }) => sum + counts.accepted, 0);
    }
    const value: ReadRecord = { seq: upTo, head, isAll, at: now().toISOString() };
    await store.records.write(context.id, [{ type: "put", kind: KIND, key: session, value }]);
    run.emit({ type: "stage_progress", stage: STAGE, done: captured.parts, total: null, item: session });
    after = upTo;
    if (isAll) break;
  }
  run.emit({ type: "stage_finished", stage: STAGE, counts: { parts: captured.parts, found: captured.found } });
  return captured;
}

interface Part {
  session: SessionId;
  agent: string;
  before: Passage[];
  passages: Passage[];
  after: number;
  upTo: number;
}

function readPart(run: Run, parts: MemoryParts, part: Part): Promise<FoundMemory[]> {
  const { session, agent, before, passages, after, upTo } = part;
  const { llm, signal } = run;
  const inputs = { prompt: MEMORY_PROMPT, model: run.modelOf("candidateExtraction"), session, after, upTo };
  return run.step("memory", inputs, z.array(foundMemory), async () => {
    if (!llm) {
      throw new LlmError("not_configured", "No model is set up, and a session needs one to be read.", {
        fix: "Run `tandem setup`.",
      });
    }
    const found = new Map<string, FoundMemory>();
    const unit = `${session}, events ${after + 1} to ${upTo}`;
    run.emit({ type: "unit_started", unit, items: [session] });
    const { stopReason, error, text } = await llm.runAgentLoop({
      role: "candidateExtraction",
      system: MEMORY_SYSTEM,
      prompt: memoryPrompt({ agent }, before, passages),
      tools: memoryTools(parts, { id: session, agent }, [...before, ...passages], found),
      stepBudget: STEP_BUDGET,
      signal,
      onStepFinish: ({ stepIndex: step, stepBudget: budget, toolCalls }) =>
        run.emit({ type: "unit_step", unit, step, budget, tools: [...toolCalls] }),
    });
    signal.throwIfAborted();
    if (stopReason === "error") {
      const failure = error ?? new LlmError("empty_answer", "The agent ended without a word.");
      run.emit({ type: "unit_finished", unit, outcome: "failed", message: failure.message });
      throw failure;
    }
    const outcome = stopReason === "budget" ? "budget" : "done";
    run.emit({ type: "unit_finished", unit, outcome, message: text.slice(0, 1_000).toWellFormed() || null });
    return [...found.values()];
  });
}
