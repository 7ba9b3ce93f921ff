import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { z } from "zod";
import { RehearsalError } from "../rehearsal-error.ts";
import { tryParse } from "./rewrite-body.ts";

/** The first line. Readers reject unknown versions. */
const header = z.object({ format: z.literal("rehearsal"), version: z.literal(1), recordedAt: z.string() });

const headers = z.record(z.string(), z.string());

/** One model request and its answer, without credentials. */
const exchange = z.object({
  type: z.literal("exchange"),
  /** Number of the model request in order of arrival, from 1; lines are in order of completion. */
  number: z.number(),
  at: z.string(),
  request: z.object({ method: z.string(), host: z.string(), path: z.string(), headers, body: z.unknown().optional() }),
  response: z.object({
    status: z.number(),
    headers,
    /** The raw body, JSON or an event stream. */
    body: z.string(),
    /** False if the caller closed the connection early. */
    complete: z.boolean(),
    ms: z.number(),
  }),
});

/** Any other request: recorded without its content. */
const aside = z.object({
  type: z.literal("aside"),
  at: z.string(),
  method: z.string(),
  host: z.string(),
  path: z.string(),
  status: z.number(),
});

export type RecordedExchange = z.infer<typeof exchange>;
export type RecordedLine = RecordedExchange | z.infer<typeof aside>;

/** Writes complete lines one by one. The file is owner-only. */
export class RecordingWriter implements Disposable {
  readonly #file: number;

  constructor(path: string) {
    try {
      this.#file = openSync(path, "wx", 0o600);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      const fix = "Choose another name, or delete the file first.";
      throw new RehearsalError("recording_exists", `${path} exists already.`, fix, error);
    }
    this.#writeLine({ format: "rehearsal", version: 1, recordedAt: new Date().toISOString() });
  }

  write(line: RecordedLine): void {
    this.#writeLine(line);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  #writeLine(line: object): void {
    writeSync(this.#file, `${JSON.stringify(line)}\n`);
  }
}

/** The exchanges of a recording, in order of arrival. */
export function readRecording(path: string): RecordedExchange[] {
  const [first = "", ...rest] = readText(path).split("\n");
  if (!header.safeParse(tryParse(first)).success) {
    const fix = "Give a file that `startRecording` or `tandem rehearse record` wrote, of format version 1.";
    throw new RehearsalError("recording_unreadable", `${path} is not a recording of a known version.`, fix);
  }
  const exchanges: RecordedExchange[] = [];
  for (const [index, text] of rest.entries()) {
    if (text.trim() === "") continue;
    const parsed = z.discriminatedUnion("type", [exchange, aside]).safeParse(tryParse(text));
    if (!parsed.success) {
      const reason = z.prettifyError(parsed.error).split("\n")[0] ?? "";
      const fix = "Record again, or fix the line.";
      throw new RehearsalError("recording_unreadable", `${path}, line ${index + 2}: ${reason}`, fix, parsed.error);
    }
    if (parsed.data.type === "exchange") exchanges.push(parsed.data);
  }
  return exchanges.sort((a, b) => a.number - b.number);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RehearsalError("recording_unreadable", `${path} cannot be read: ${reason}`, "Check the path.", error);
  }
}
