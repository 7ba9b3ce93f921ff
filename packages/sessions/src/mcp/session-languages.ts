import type { ConversationHost, HostServer } from "@tandem/claude-code";
import type { SessionEventBody } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";

/** The language servers as the process of a session uses them. */
export interface SessionLanguages {
  /** The session's tools. Undefined if its folder is not trusted, no server is installed for its files, or its agent cannot read. */
  toolsFor(row: SessionRow): Promise<HostServer | undefined>;
  /** Keeps the folder's servers while a process of a session runs. They end with the last one. */
  hold(folder: string): AsyncDisposable;
  /** Ends all of them. */
  stop(): Promise<void>;
  /** Tells the model and the log which errors an edit has added, if a language server for the file runs. */
  diagnoseEdit(folder: string, write: (events: SessionEventBody[]) => void): NonNullable<ConversationHost["afterTool"]>;
}
