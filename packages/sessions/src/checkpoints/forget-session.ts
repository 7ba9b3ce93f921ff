import type { SessionRow, Store } from "@tandem/storage";
import { removeTree, type CheckpointStores } from "@tandem/workspace";
import type { ProcessSettings } from "../process/process-settings.ts";
import { sandboxFolder } from "../sandbox/sandbox-folder.ts";
import { readPast } from "./session-past.ts";

/** Deletes a session's data outside the store: its checkpoints, Claude Code's transcripts and its sandbox's home. */
export async function forgetSession(
  {
    store,
    checkpointStores,
    settings,
  }: { store: Store; checkpointStores: CheckpointStores | undefined; settings: ProcessSettings },
  row: SessionRow,
): Promise<void> {
  const { rewinds } = await readPast(store.events, row.id);
  const rewound = rewinds.flatMap(({ event }) => (event.conversation ? Object.values(event.conversation) : []));
  const conversations = new Set([row.claudeSession, ...rewound].filter((id): id is string => Boolean(id)));
  if (conversations.size > 0) {
    // Imported lazily: commands that only read sessions start faster without it.
    const { forgetConversation } = await import("@tandem/claude-code");
    const { hostVariables, stateFolder } = settings;
    const place = { hostVariables, stateFolder, credential: await settings.credential() };
    for (const id of conversations) await forgetConversation(place, id);
  }
  await removeTree(sandboxFolder(settings.stateFolder, row.id));
  await checkpointStores?.forget(row.id, row.folder);
}
