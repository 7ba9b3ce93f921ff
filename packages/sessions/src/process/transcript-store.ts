import type { TranscriptStore } from "@tandem/claude-code";
import type { SessionId } from "@tandem/protocol";
import type { Lease, TranscriptLine, Transcripts } from "@tandem/storage";

/** Where conversations are kept that a session began after its first one: a rewound one goes on as another. */
const LATER = "conversations/";

/** A conversation's transcripts in our store, as Claude Code's room knows them. */
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

/** All transcripts of a conversation, by their paths in it; none where it has no name yet. */
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

/** Keeps the transcripts of a conversation that nobody has opened yet. Once it is the session's, it is gone on with. */
export async function storeTranscripts(
  transcripts: Transcripts,
  lease: Lease,
  conversation: string,
  contents: ReadonlyMap<string, readonly TranscriptLine[]>,
): Promise<void> {
  for (const [subpath, lines] of contents) {
    await transcripts.replace(lease, placeIn(`${LATER}${conversation}`, subpath), lines);
  }
  // Whoever looks must see that the first conversation is not the only one.
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
  // A session that was rewound has conversations that it is not to remember, its first one perhaps.
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
