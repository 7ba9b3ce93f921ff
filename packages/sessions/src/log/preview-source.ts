import type { LiveDelta, LoggedEvent, SessionId } from "@tandem/protocol";

/** Receives the previews of a session that another process writes. */
export interface RemotePreviewSink {
  /** `settledTo` is the position in the log up to which events have been settled. */
  show(deltas: readonly LiveDelta[], settledTo: number): void;
  settle(events: readonly LoggedEvent[]): void;
  /** The connection broke: the rest of each open preview would have a gap, or repeat text. */
  tear(): void;
}

/** Previews of sessions that other processes write. */
export interface PreviewSource {
  /** Shows a session's previews, through every change of its writer. Returns a function that stops it. */
  watch(session: SessionId, sink: RemotePreviewSink): () => void;
}

export interface PreviewSettings {
  /** In a fleet: previews of sessions that other processes write. */
  previews?: PreviewSource;
}
