import type { ThreadId } from "@tandem/protocol";

/** An event of a log as the JSON that clients get, with the fields that filters need. */
export interface EncodedEvent {
  seq: number;
  thread: ThreadId | null;
  id: string;
  type: string;
  /** `processed_at` in milliseconds. */
  at: number | null;
  /** Whether the session's own stream has it. */
  isOnPrimary: boolean;
  json: string;
}
