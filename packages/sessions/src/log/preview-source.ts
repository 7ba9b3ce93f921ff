import type { SessionId } from "@tandem/protocol";
import type { PreviewSink } from "./outbox.ts";

/** Previews of sessions that other processes write. */
export interface PreviewSource {
  /** From now on shows those of a session, whoever writes it by then, until it is told to stop. */
  watch(session: SessionId, outlet: PreviewSink & { forget(): void }): PreviewWatch;
}

export interface PreviewWatch {
  /** Resolves when nothing is kept any more of what the log had when this was called. */
  caughtUp(): Promise<void>;
  stop(): void;
}

export interface PreviewSettings {
  /** In a fleet: previews of sessions that other processes write. */
  previews?: PreviewSource;
}
