import { classifyUserText } from "./transcript-reader.ts";
import { z } from "zod";
import { blocksOf, textOf } from "./past-translator.ts";
import { type PastLine, type PastSession, readPastSession } from "./past-sessions.ts";

/** Summary of a whole transcript. */
export interface PastFacts {
  /** The last working folder. */
  folder: string | undefined;
  title: string | undefined;
  firstPrompt: string | undefined;
  begunAt: string | undefined;
  lastAt: string | undefined;
  /** Prompts and answers of the main conversation. */
  messages: number;
  models: string[];
  version: string | undefined;
}

const titled = z.union([
  z.object({ type: z.literal("custom-title"), customTitle: z.string() }).transform((line) => line.customTitle),
  z.object({ type: z.literal("ai-title"), aiTitle: z.string() }).transform((line) => line.aiTitle),
  z.object({ type: z.literal("summary"), summary: z.string() }).transform((line) => line.summary),
]);
const said = z.looseObject({
  type: z.enum(["user", "assistant"]),
  // An invalid time would be shown as it is, and no database would accept it.
  timestamp: z.iso.datetime({ offset: true }).optional().catch(undefined),
  cwd: z.string().optional(),
  version: z.string().optional(),
  isMeta: z.boolean().optional(),
  isCompactSummary: z.boolean().optional(),
  isSidechain: z.boolean().optional(),
  message: z.looseObject({ id: z.string().optional(), model: z.string().optional() }),
});

/** Collects the summary while lines are read. */
export class PastFactsReader {
  #folder: string | undefined;
  readonly #titles = new Map<unknown, string>();
  #firstPrompt: string | undefined;
  #begunAt: string | undefined;
  #lastAt: string | undefined;
  #prompts = 0;
  readonly #answers = new Set<string>();
  readonly #models = new Set<string>();
  #version: string | undefined;

  note({ line, subagent }: PastLine): void {
    if (!line || subagent) return;
    const title = titled.safeParse(line).data;
    if (title !== undefined) this.#titles.set(line["type"], title);
    const known = said.safeParse(line).data;
    if (!known || known.isSidechain) return;
    this.#begunAt ??= known.timestamp;
    this.#lastAt = known.timestamp ?? this.#lastAt;
    this.#folder = known.cwd ?? this.#folder;
    this.#version = known.version ?? this.#version;
    if (known.type === "assistant") {
      const { id, model } = known.message;
      if (model === undefined || model === "<synthetic>") return;
      this.#models.add(model);
      this.#answers.add(id ?? `line ${this.#answers.size}`);
      return;
    }
    const blocks = blocksOf(line) ?? [];
    if (known.isMeta || known.isCompactSummary || blocks.some(({ type }) => type === "tool_result")) return;
    const word = classifyUserText(textOf(blocks));
    if (word.type !== "prompt" && word.type !== "command") return;
    this.#prompts += 1;
    if (word.type === "prompt") this.#firstPrompt ??= word.text;
  }

  get facts(): PastFacts {
    const title = ["custom-title", "ai-title", "summary"].map((kind) => this.#titles.get(kind)).find(Boolean);
    return {
      folder: this.#folder,
      title,
      firstPrompt: this.#firstPrompt,
      begunAt: this.#begunAt,
      lastAt: this.#lastAt,
      messages: this.#prompts + this.#answers.size,
      models: [...this.#models],
      version: this.#version,
    };
  }
}

export async function readPastFacts(session: PastSession): Promise<PastFacts> {
  const reader = new PastFactsReader();
  for await (const line of readPastSession(session)) reader.note(line);
  return reader.facts;
}
