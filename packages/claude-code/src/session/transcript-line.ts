import { readFile } from "node:fs/promises";
import { z } from "zod";

/** A line of a transcript. Its form is Claude Code's own; we look at no more of it than we must. */
export type TranscriptLine = Record<string, unknown>;

const line = z.record(z.string(), z.unknown());

/** The lines of a transcript file, or undefined if there is none. A line that was cut off by a crash is left out. */
export async function readTranscript(file: string): Promise<TranscriptLine[] | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  return text.split("\n").flatMap((row) => {
    try {
      return row ? [line.parse(JSON.parse(row))] : [];
    } catch {
      return [];
    }
  });
}

export const toText = (lines: readonly TranscriptLine[]): string =>
  lines.map((row) => `${JSON.stringify(row)}\n`).join("");

const call = z.object({ type: z.literal("tool_use"), id: z.string() });
const answer = z.object({ message: z.object({ content: z.array(z.unknown()) }) });

/** The calls that a line makes. */
export const toolUseIds = (row: TranscriptLine): string[] =>
  (answer.safeParse(row).data?.message.content ?? []).flatMap((block) => call.safeParse(block).data?.id ?? []);

const result = z.object({ type: z.literal("tool_result"), tool_use_id: z.string() });

/** The calls whose results are in a line. */
export const resultIds = (row: TranscriptLine): string[] =>
  (answer.safeParse(row).data?.message.content ?? []).flatMap(
    (block) => result.safeParse(block).data?.tool_use_id ?? [],
  );

const said = z.object({
  uuid: z.string(),
  attachment: z.object({ source_uuid: z.string() }).optional().catch(undefined),
});

/** Under which names a line holds what somebody has said: a message that came while a turn was running has its own inside. */
export function messageUuids(row: TranscriptLine): string[] {
  const { data } = said.safeParse(row);
  return data ? [data.uuid, ...(data.attachment ? [data.attachment.source_uuid] : [])] : [];
}
