import type { TranscriptStore } from "@tandem/claude-code";
import type { SessionId } from "@tandem/protocol";
import type { Lease, TranscriptLine, Transcripts } from "@tandem/storage";

/** The key prefix of conversations after a session's first one: a rewound conversation continues as a new one. */
const LATER = "conversations/";

/** Stores a conversation's transcripts behind the interface of the claude-code package. */
export async function transcriptStore(
  transcripts: Transcripts,
  lease: Lease,
  conversation: { id: string; resume: boolean },
): Promise<TranscriptStore> {
  const { session } = lease;
  const root = await rootOf(transcripts, session, conversation);
  return {
    append: (subpath, lines) => transcripts.append(lease, placeIn(root, subpath), lines),
    load: (subpath) => transcripts.load(session, placeIn(root, subpath)),
    subpaths: async () => within(root, await transcripts.subpaths(session)),
  };
}

/** All transcripts of a conversation by path; none if it has no id yet. */
export async function loadTranscripts(
  transcripts: Transcripts,
  session: SessionId,
  conversation: string | undefined,
): Promise<Map<string, TranscriptLine[]>> {
  const found = new Map<string, TranscriptLine[]>();
  if (!conversation) return found;
  const root = await rootOf(transcripts, session, { id: conversation, resume: true });
  for (const subpath of within(root, await transcripts.subpaths(session))) {
    found.set(subpath, await transcripts.load(session, placeIn(root, subpath)));
  }
  return found;
}

/** Stores the transcripts of a conversation that is not open yet. The session then resumes from it. */
export async function storeTranscripts(
  transcripts: Transcripts,
  lease: Lease,
  conversation: string,
  contents: ReadonlyMap<string, readonly TranscriptLine[]>,
): Promise<void> {
  for (const [subpath, lines] of contents) {
    await transcripts.replace(lease, placeIn(`${LATER}${conversation}`, subpath), lines);
  }
  // Readers must see that there is more than the first conversation.
  if (contents.size === 0) await transcripts.replace(lease, `${LATER}none`, [{ type: "tandem-none" }]);
}

async function rootOf(
  transcripts: Transcripts,
  session: SessionId,
  { id, resume }: { id: string; resume: boolean },
): Promise<string> {
  const paths = await transcripts.subpaths(session);
  const own = `${LATER}${id}`;
  if (within(own, paths).length > 0) return own;
  if (paths.length === 0) return "";
  if (!resume) return own;
  // A rewound session must not resume its former conversations.
  if (!paths.some((path) => path.startsWith(LATER))) return "";
  const first = await transcripts.load(session, "");
  return first.some(({ sessionId }) => sessionId === id) ? "" : own;
}

const placeIn = (root: string, subpath: string): string =>
  root === "" ? subpath : subpath === "" ? root : `${root}/${subpath}`;

function within(root: string, paths: readonly string[]): string[] {
  if (root === "") return paths.filter((path) => !path.startsWith(LATER));
  return paths.flatMap((path) => {
    if (path === root) return [""];
    return path.startsWith(`${root}/`) ? [path.slice(root.length + 1)] : [];
  });
}
