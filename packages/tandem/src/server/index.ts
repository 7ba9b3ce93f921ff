export { addFolder, containsState, containsStateError, readAddedFolders, removeFolder } from "./added-folders.ts";
export { LogFile, logFiles, logFolder } from "./log-file.ts";
export { observe } from "./observe.ts";
export { findServer, type ServerInfo, writeServerFile } from "./server-file.ts";
export { serverSettings } from "../config/server-settings.ts";
