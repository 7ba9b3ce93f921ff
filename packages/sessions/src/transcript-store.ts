import type { TranscriptStore } from "@tandem/claude-code";
import type { Lease, Transcripts } from "@tandem/storage";

/** A session's transcript in our store, as Claude Code's room knows it. */
export const transcriptStore = (transcripts: Transcripts, lease: Lease): TranscriptStore => ({
  append: (subpath, lines) => transcripts.append(lease, subpath, lines),
  load: (subpath) => transcripts.load(lease.session, subpath),
  subpaths: () => transcripts.subpaths(lease.session),
});
