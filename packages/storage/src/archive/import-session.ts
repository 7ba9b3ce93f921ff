import { setImmediate } from "node:timers/promises";
import { RequestError, type LoggedEvent, type SessionEvent, type SessionId } from "@tandem/protocol";
import type { SessionArchive, SessionRow, Store, ThreadRow, TranscriptLine } from "../store.ts";
import { archiveLine, type ArchiveLine } from "./archive-line.ts";

/** Lines are parsed on the caller's thread; small batches keep its event loop responsive. */
const LINES_AT_ONCE = 200;

export interface ImportOptions {
  /** Replaces the archived id. */
  id?: SessionId;
  /** New working folder. The folder in the archive is untrusted input from another machine. */
  folder: string;
  /**
   * Name of the host or volume that has the folder; only workers that reach it can run the session. Null: any worker.
   */
  place?: string | null;
  /** Whether queued messages are imported too. If so, a turn starts as soon as a worker takes the session. */
  withWaiting: boolean;
}

/**
 * Stores a session written by `exportSession`, atomically: a damaged or missing line imports nothing. Rejects with
 * `conflict` if the id exists, or if the archived session was running (it would look like one whose server has
 * crashed).
 */
export async function importSession(
  store: Store,
  lines: Iterable<string> | AsyncIterable<string>,
  options: ImportOptions,
): Promise<{ id: SessionId; waiting: number }> {
  const reader = new ArchiveReader();
  for await (const line of lines) {
    if (line.trim() === "") continue;
    reader.read(line);
    if (reader.count % LINES_AT_ONCE === 0) await setImmediate();
  }
  const { session, threads, input, ...rest } = reader.finish();
  if (session.status === "running" || session.status === "rescheduling") {
    throw new RequestError("conflict", "The session was running when it was exported.", {
      fix: "Export it again once it is idle.",
    });
  }
  const id = options.id ?? session.id;
  if (await store.sessions.get(id)) {
    throw new RequestError("conflict", `The session ${id} is here already.`, {
      fix: "Import it under a new id, beside the one that is there: --as-new.",
    });
  }
  await store.sessions.restore({
    session: { ...session, id, folder: options.folder, place: options.place ?? null },
    threads: threads.map((thread) => ({ ...thread, session: id })),
    input: options.withWaiting ? input : [],
    ...rest,
  });
  return { id, waiting: input.length };
}

class ArchiveReader {
  count = 0;
  #session: SessionRow | undefined;
  #isEnded = false;
  readonly #threads: ThreadRow[] = [];
  readonly #events: LoggedEvent[] = [];
  readonly #input: SessionEvent[] = [];
  readonly #transcripts = new Map<string, TranscriptLine[]>();

  read(text: string): void {
    this.count += 1;
    this.#take(this.#parse(text));
  }

  finish(): SessionArchive {
    const session = this.#session;
    if (!this.#isEnded || !session) throw damaged("its end is missing");
    if (!this.#threads.some(({ id }) => id === session.primaryThread)) throw damaged("its primary thread is missing");
    const transcripts = [...this.#transcripts].map(([subpath, lines]) => ({ subpath, lines }));
    return { session, threads: this.#threads, events: this.#events, input: this.#input, transcripts };
  }

  #take(line: ArchiveLine): void {
    // The header must be line 1 and the session line 2.
    const place = line.type === "tandem.session" ? 1 : line.type === "session" ? 2 : Math.max(this.count, 3);
    if (place !== this.count || this.#isEnded) throw damaged(`line ${this.count} is out of place`);
    switch (line.type) {
      case "tandem.session":
        return;
      case "session":
        this.#session = line.session;
        return;
      case "thread":
        this.#threads.push(line.thread);
        return;
      case "event": {
        const { seq, thread, event } = line;
        if (seq !== this.#events.length + 1) throw damaged(`event ${this.#events.length + 1} is missing`);
        this.#events.push({ seq, thread, event });
        return;
      }
      case "transcript": {
        const lines = this.#transcripts.get(line.subpath) ?? [];
        this.#transcripts.set(line.subpath, lines);
        lines.push(line.line);
        return;
      }
      case "inbox":
        this.#input.push(line.event);
        return;
      case "end":
        if (line.lines !== this.count - 1) throw damaged("lines are missing");
        this.#isEnded = true;
    }
  }

  #parse(text: string): ArchiveLine {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      throw damaged(`line ${this.count} is not JSON`);
    }
    const { error } = archiveLine.safeParse(json);
    if (!error) return json as ArchiveLine;
    const [issue] = error.issues;
    throw damaged(`line ${this.count}, ${issue?.path.join(".") || "as a whole"}: ${issue?.message}`);
  }
}

const damaged = (why: string): RequestError =>
  new RequestError("invalid_request", `This is not a whole export of a session: ${why}.`, {
    fix: "Export the session again, with a Tandem that is not newer than this one.",
  });
