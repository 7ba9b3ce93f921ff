import type { JobEvent } from "@tandem/storage";
import type { EventStream } from "./event-stream.ts";
import { commentFrame } from "./frame.ts";

const DRAIN_MS = 30_000;

/**
 * Writes a job's log to a client as it grows. A client that stops reading is disconnected; it resumes with its last id.
 */
export async function writeJobEvents(log: AsyncIterable<JobEvent[]>, stream: EventStream): Promise<void> {
  try {
    for await (const events of log) {
      stream.write(events.map(frame).join(""));
      if (!(await stream.drained(DRAIN_MS))) return stream.destroy();
    }
  } finally {
    stream.end(commentFrame("the job has ended"));
  }
}

const frame = (logged: JobEvent): string => `event: message\nid: ${logged.seq}\ndata: ${JSON.stringify(logged)}\n\n`;
