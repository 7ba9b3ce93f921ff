import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { configDirOf } from "./config-dir.ts";
import type { ConversationSetup } from "./conversation.ts";

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type ConversationFiles = Pick<ConversationSetup, "credential" | "hostVariables" | "stateFolder" | "sandbox">;

/** Folder of Claude Code's conversations. */
export const projectsFolder = (place: ConversationFiles): string =>
  join(configDirOf(place) ?? join(place.hostVariables["HOME"] ?? "", ".claude"), "projects");

/** Deletes Claude Code's own files of a conversation: its transcript, its subagents' and its tool results. */
export async function forgetConversation(place: ConversationFiles, id: string): Promise<void> {
  if (!ID.test(id)) return;
  const projects = projectsFolder(place);
  const folders = await readdir(projects).catch(() => []);
  for (const folder of folders) {
    for (const name of [`${id}.jsonl`, `${id}.jsonl.aside`]) await rm(join(projects, folder, name), { force: true });
    await rm(join(projects, folder, id), { recursive: true, force: true });
  }
}
