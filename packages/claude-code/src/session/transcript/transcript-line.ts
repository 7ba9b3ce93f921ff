import { readFile } from "node:fs/promises";
import { z } from "zod";

/** A line of a transcript in Claude Code's own format; only the needed fields are parsed. */
export type TranscriptLine = Record<string, unknown>;

const line = z.record(z.string(), z.unknown());

export interface TranscriptFile {
  lines: TranscriptLine[];
  /** False if a crash or a full disk has left half a line. A line that is appended to it could not be read. */
  isWhole: boolean;
}

/** Parses a transcript file; undefined if it does not exist. Skips half lines. */
export async function readTranscriptFile(file: string): Promise<TranscriptFile | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const rows = text.split("\n").filter((row) => row !== "");
  const lines = rows.flatMap((row) => {
    try {
      return [line.parse(JSON.parse(row))];
    } catch {
      return [];
    }
  });
  return { lines, isWhole: lines.length === rows.length && (text === "" || text.endsWith("\n")) };
}

export const readTranscript = async (file: string): Promise<TranscriptLine[] | undefined> =>
  (await readTranscriptFile(file))?.lines;

export const toText = (lines: readonly TranscriptLine[]): string =>
  lines.map((row) => `${JSON.stringify(row)}\n`).join("");

const call = z.object({
  type: z.literal("tool_use"),
  id: z.string(),
  input: z.record(z.string(), z.unknown()).catch({}),
});
const answer = z.object({ message: z.object({ content: z.array(z.unknown()) }) });

/** The calls in a line. */
export const callsIn = (row: TranscriptLine): z.infer<typeof call>[] =>
  (answer.safeParse(row).data?.message.content ?? []).flatMap((block) => call.safeParse(block).data ?? []);

/** Ids of the calls in a line. */
export const toolUseIds = (row: TranscriptLine): string[] => callsIn(row).map(({ id }) => id);

const result = z.object({ type: z.literal("tool_result"), tool_use_id: z.string() });

/** Ids of the calls whose results are in a line. */
export const resultIds = (row: TranscriptLine): string[] =>
  (answer.safeParse(row).data?.message.content ?? []).flatMap(
    (block) => result.safeParse(block).data?.tool_use_id ?? [],
  );

const said = z.object({
  uuid: z.string(),
  attachment: z.object({ source_uuid: z.string() }).optional().catch(undefined),
});

/** Uuids of the message in a line. A message sent during a running turn carries its own uuid inside an attachment. */
export function messageUuids(row: TranscriptLine): string[] {
  const { data } = said.safeParse(row);
  return data ? [data.uuid, ...(data.attachment ? [data.attachment.source_uuid] : [])] : [];
}
