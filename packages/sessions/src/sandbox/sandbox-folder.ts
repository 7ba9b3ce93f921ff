import { join } from "node:path";

/** The folder of a session's private home and of Claude Code's state, kept between its processes. */
export const sandboxFolder = (stateFolder: string, session: string): string => join(stateFolder, "sandboxes", session);

/** The private homes of local MCP servers, kept between sessions. */
export const serverHomes = (stateFolder: string): string => join(stateFolder, "sandboxes", "mcp");
