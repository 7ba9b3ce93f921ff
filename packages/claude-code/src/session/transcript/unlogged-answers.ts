import { z } from "zod";
import type { TranscriptLine } from "./transcript-line.ts";

/** The model's answers of a turn that the log has, by their ids in Claude's API. */
export interface LoggedAnswers {
  /** How many texts of each answer. */
  texts: ReadonlyMap<string, number>;
  /** Answers whose usage is counted. */
  counted: ReadonlySet<string>;
}

/** An answer in the transcript that the log does not have completely. */
export interface UnloggedAnswer {
  id: string;
  model: string;
  usage: unknown;
  texts: readonly string[];
  isCounted: boolean;
}

const SYNTHETIC = "<synthetic>";

const line = z.looseObject({
  type: z.enum(["user", "assistant"]),
  isSidechain: z.boolean().optional(),
  isApiErrorMessage: z.boolean().optional(),
});
const answer = z.object({
  message: z.object({
    id: z.string(),
    model: z.string(),
    usage: z.unknown(),
    content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  }),
});

/** Content at the end of a transcript that the log lacks, because its writer died between the two writes. */
export function unloggedAnswers(lines: readonly TranscriptLine[], { texts, counted }: LoggedAnswers): UnloggedAnswer[] {
  const main = lines.flatMap((each) => line.safeParse(each).data ?? []).filter(({ isSidechain }) => !isSidechain);
  const last = main.slice(main.findLastIndex(({ type }) => type === "user") + 1);
  const parts = last
    .filter(({ isApiErrorMessage }) => !isApiErrorMessage)
    .flatMap((each) => answer.safeParse(each).data?.message ?? [])
    .filter(({ model }) => model !== SYNTHETIC);
  // Claude Code writes a line for each block of an answer; the last one has the final usage.
  return [...Map.groupBy(parts, ({ id }) => id)].flatMap(([id, blocks]): UnloggedAnswer[] => {
    const said = blocks.flatMap(({ content }) =>
      content.flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : [])),
    );
    const missing = said.slice(texts.get(id) ?? 0);
    const { model, usage } = blocks.at(-1)!;
    const isCounted = counted.has(id);
    return missing.length === 0 && isCounted ? [] : [{ id, model, usage, texts: missing, isCounted }];
  });
}
