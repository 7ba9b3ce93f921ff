import type { FeedSession, SessionDiff } from "@tandem/protocol";
import { messageIdOf, sessionIdOf } from "./opencode-id.ts";
import type { Tokens } from "./wire-message.ts";

/** A session of opencode's API. */
export interface SessionInfo {
  id: string;
  slug: string;
  projectID: string;
  directory: string;
  path?: string;
  parentID?: string;
  summary?: { additions: number; deletions: number; files: number };
  cost?: number;
  tokens?: Tokens;
  title: string;
  version: string;
  time: { created: number; updated: number; archived?: number };
  revert?: { messageID: string };
}

export type SessionState =
  | { type: "idle" }
  | { type: "busy" }
  | { type: "retry"; attempt: number; message: string; next: number };

export interface FileDiff {
  file: string;
  patch: string;
  additions: number;
  deletions: number;
  status: "added" | "deleted" | "modified";
}

/** Tandem has one project: all sessions of a tenant are in one list, as on the page. */
export const PROJECT = "tandem";

/** The release of opencode whose API is served. */
export const OPENCODE_VERSION = "1.18.18";

export function sessionInfo(session: FeedSession, revertTo?: string): SessionInfo {
  const { outcome, archived_at: archived } = session;
  return {
    id: sessionIdOf(session.id),
    slug: session.id,
    projectID: PROJECT,
    directory: session.folder,
    path: "",
    ...(outcome?.files != null && {
      summary: { additions: outcome.added ?? 0, deletions: outcome.removed ?? 0, files: outcome.files },
    }),
    cost: Number(session.list_cost.amount) / 100,
    title: session.title ?? "New session",
    version: OPENCODE_VERSION,
    time: {
      created: Date.parse(session.created_at),
      updated: Date.parse(session.updated_at),
      ...(archived !== null && { archived: Date.parse(archived) }),
    },
    ...(revertTo !== undefined && { revert: { messageID: messageIdOf(revertTo) } }),
  };
}

/** The thread of a subagent. */
export function childInfo(
  parent: SessionInfo,
  session: string,
  thread: { id: string; agent: string; createdAt: number },
): SessionInfo {
  return {
    id: sessionIdOf(session, thread.id),
    slug: thread.id,
    projectID: PROJECT,
    directory: parent.directory,
    path: "",
    parentID: parent.id,
    title: `${thread.agent} (@${thread.agent} subagent)`,
    version: OPENCODE_VERSION,
    time: { created: thread.createdAt, updated: Math.max(thread.createdAt, parent.time.updated) },
  };
}

export const fileDiffs = ({ files }: SessionDiff): FileDiff[] =>
  files.map(({ path, status, added, removed, patch }) => ({
    file: path,
    patch: patch ?? "",
    additions: added ?? 0,
    deletions: removed ?? 0,
    status: status === "added" || status === "deleted" ? status : "modified",
  }));
