import { utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@tandem/protocol";

/** The folder of a session's private home and of Claude Code's state, kept between its processes. */
export const sandboxFolder = (stateFolder: string, session: string): string => join(stateFolder, "sandboxes", session);

/** The private homes of local MCP servers, kept between sessions. */
export const serverHomes = (stateFolder: string): string => join(stateFolder, "sandboxes", "mcp");

/** Sets a folder's last use by the clock: `prunePackages` deletes those that are not used for a month. */
export async function noteUse(folder: string, clock: Pick<Clock, "now">): Promise<void> {
  const seconds = clock.now() / 1_000;
  await utimes(folder, seconds, seconds);
}
