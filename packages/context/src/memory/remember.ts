import { newId, RequestError } from "@tandem/protocol";
import type { LlmRuntime } from "@tandem/runtime";
import type { Evidence } from "../evidence.ts";
import type { Knowledge } from "../knowledge.ts";
import type { Proposal } from "../proposals/proposal.ts";
import { draftChange, draftForgetting, draftMemory } from "./draft-memory.ts";
import { findAlike, findContradictions } from "./find-contradictions.ts";
import { contradictionsOf, Memories, type StoredMemory } from "./memories.ts";
import { isExpired, type MemoryFile, type MemoryScope, scoped } from "../formats/memory-file.ts";
import { saysTheSame } from "./statement.ts";

/** A statement of a person to remember. */
export interface Words {
  text: string;
  scope: MemoryScope;
  /** With scope `agent`: its name. */
  agent?: string;
  tags?: readonly string[];
  /** Null: never expires. */
  expiresAt: string | null;
  by: string;
  /** With scope `user`: the owner; default: the speaker. */
  user?: string;
}

export interface Remembered {
  memory: MemoryFile;
  /** The accepted proposal; absent if the memory already existed. */
  proposal?: Proposal;
  contradicts: StoredMemory[];
  /** Why contradictions were not checked although similar memories exist. */
  unchecked?: string;
}

const MAX_TITLE = 72;
/** One statement; longer text belongs into a source. */
export const MAX_STATEMENT = 4_000;

const MAX_TAGS = 20;
const MAX_TAG = 100;

/** Stores a person's statement at once. Idempotent. */
export async function remember(
  knowledge: Knowledge,
  words: Words,
  {
    openModel,
    now = knowledge.search.now,
    signal,
  }: {
    /** Opens the model that compares memories. Without one, contradictions are not checked. */
    openModel?: (() => Promise<LlmRuntime | undefined>) | undefined;
    now?: () => Date;
    signal?: AbortSignal;
  } = {},
): Promise<Remembered> {
  const { by, text } = checkWords(words);
  const at = now();
  const memories = new Memories(knowledge.folder);
  const known = await memories.own();
  const whose = scoped(words.scope, { agent: words.agent, user: words.user ?? by });
  const same = known.find((memory) => saysTheSame(memory, { text, ...whose }));
  const evidence: Evidence = { type: "person", name: by, at: at.toISOString() };
  if (same && !isExpired(same, at)) return { memory: same, contradicts: contradictionsOf(same, known) };
  if (same) {
    // It had expired; repeating it restores it.
    const draft = draftChange(same, { expiresAt: words.expiresAt, updatedAt: at.toISOString() }, [evidence]);
    const proposal = await acceptAtOnce(knowledge, titleOf("Remember again", text), [draft], by);
    return { memory: { ...same, expiresAt: words.expiresAt }, proposal, contradicts: contradictionsOf(same, known) };
  }
  const memory: MemoryFile = {
    id: newId("memory", at.getTime()),
    ...whose,
    text,
    tags: [...(words.tags ?? [])],
    createdAt: at.toISOString(),
    expiresAt: words.expiresAt,
    sources: [evidence],
    contradicts: [],
  };
  const alike = await findAlike({ memories, search: knowledge.search }, text, { now: at, agent: words.agent, signal });
  await using models = new AsyncDisposableStack();
  const model = alike.length > 0 ? await openModel?.() : undefined;
  if (model) models.defer(() => model.close());
  const { memories: contradicts, unchecked } = await findContradictions(model, memory, alike, signal);
  const proposal = await acceptAtOnce(knowledge, titleOf("Remember", text), draftMemory(memory, contradicts), by);
  // Make it searchable immediately.
  await knowledge.search.sync();
  return {
    memory: { ...memory, contradicts: contradicts.map(({ id }) => id) },
    proposal,
    contradicts,
    ...(unchecked !== undefined && { unchecked }),
  };
}

/** Removes a memory by a person's decision; can be undone. */
export async function forget(
  knowledge: Knowledge,
  id: string,
  by: string,
  now = knowledge.search.now(),
): Promise<Proposal> {
  const memories = new Memories(knowledge.folder);
  const memory = await findMemory(memories, id);
  const evidence: Evidence = { type: "person", name: by, at: now.toISOString() };
  const drafts = draftForgetting(memory, await memories.all(), [evidence]);
  return acceptAtOnce(knowledge, titleOf("Forget", memory.text), drafts, by);
}

/** Sets its expiry; null for never. */
export async function keep(
  knowledge: Knowledge,
  id: string,
  { by, expiresAt, now = knowledge.search.now() }: { by: string; expiresAt: string | null; now?: Date },
): Promise<Proposal | undefined> {
  const memory = await findMemory(new Memories(knowledge.folder), id);
  if (memory.expiresAt === expiresAt) return undefined;
  const evidence: Evidence = { type: "person", name: by, at: now.toISOString() };
  const draft = draftChange(memory, { expiresAt, updatedAt: now.toISOString() }, [evidence]);
  return acceptAtOnce(knowledge, titleOf("Keep", memory.text), [draft], by);
}

export async function findMemory(memories: Memories, id: string): Promise<StoredMemory> {
  const memory = await memories.get(id.replace(/^memory:/, ""));
  if (memory) return memory;
  throw new RequestError("not_found", `There is no memory ${id}.`, {
    fix: "List them with `tandem context memories list`.",
  });
}

/** A person's decision is a proposal that is accepted at once, so that it can be undone. */
export async function acceptAtOnce(
  { proposals }: Pick<Knowledge, "proposals">,
  title: string,
  drafts: Parameters<Knowledge["proposals"]["propose"]>[0]["drafts"],
  by: string,
): Promise<Proposal> {
  const proposal = await proposals.propose({
    job: null,
    title,
    summary: `Decided by ${by}.`,
    drafts,
    includeRejected: true,
  });
  if (!proposal) throw new RequestError("invalid_request", "That would change nothing.");
  const accepted = proposal.state === "accepted" ? proposal : await proposals.accept(proposal.id, { by });
  if (accepted.counts.conflict > 0) {
    throw new RequestError("conflict", "A memory was changed at the same moment.", {
      fix: `Look at ${accepted.id}, or try again.`,
    });
  }
  return accepted;
}

export function titleOf(verb: string, text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return `${verb}: ${line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1)}…`}`.toWellFormed();
}

function checkWords({ text, scope, agent, by, tags = [] }: Words): { text: string; by: string } {
  const words = text.trim().toWellFormed();
  if (words === "") throw new RequestError("invalid_request", "There is nothing to remember.");
  if (words.length > MAX_STATEMENT) {
    throw new RequestError(
      "invalid_request",
      `A memory has at most ${MAX_STATEMENT} characters; this has ${words.length}.`,
      { fix: "Remember one statement at a time; a document belongs into a source of `tandem context ingest`." },
    );
  }
  if (scope === "agent" && !agent) {
    throw new RequestError("invalid_request", "It is to hold for one agent, and none is named.", { fix: "Name it." });
  }
  if (tags.length > MAX_TAGS || tags.some(({ length }) => length > MAX_TAG)) {
    throw new RequestError("invalid_request", `A memory has at most ${MAX_TAGS} tags of ${MAX_TAG} characters.`);
  }
  return { text: words, by };
}
