import type {
  BackgroundTask,
  ClientEvent,
  EventId,
  EventOf,
  LiveDelta,
  LoggedEvent,
  Session,
  SessionCreateParams,
  SessionEvent,
  SessionId,
  SessionUpdateParams,
  Thread,
} from "@tandem/protocol";
import type { EncodedEvent, EventRange, Page, SessionStore } from "@tandem/storage";
import type { SlashCommand } from "../commands/command-catalogue.ts";
import type { Public } from "../host/public.ts";
import type { SessionFolderService } from "./session-folder-service.ts";
import type { SessionResourceService } from "./session-resources.ts";
import type { FeedItem } from "../log/feed.ts";
import type { PreviewListener } from "../log/delta-hub.ts";

/** The run of a deployment that a session is created for. */
export interface RunOfDeployment {
  by: string;
  id: SessionId;
  deployment: string;
}

/** Stores the id that a session will have instead. Resolves with false if it must not have it. */
export type UseSessionId = (id: SessionId) => Promise<boolean>;

export interface Sessions {
  /**
   * Here and below, `by` is the caller's name for the log. A session with a chosen `id` gets another one only if `useId` accepts
   * it: that of a process started ahead.
   */
  create(params: SessionCreateParams, by?: string, id?: SessionId, useId?: UseSessionId): Promise<Session>;
  /** Repeats a creation whose process has died: what it left is removed first. */
  createAgain(params: SessionCreateParams, by: string, id: SessionId): Promise<Session>;
  /** Rejects as `create` would, and creates nothing. */
  check(params: SessionCreateParams): Promise<void>;
  get(id: string): Promise<Session>;
  update(id: string, params: SessionUpdateParams, by?: string): Promise<Session>;
  archive(id: string, by?: string): Promise<Session>;
  delete(id: string, by?: string): Promise<void>;
  list(query: Parameters<SessionStore["list"]>[0]): Promise<Page<Session>>;
  /**
   * Queues events; they are acknowledged when this resolves. `by` is the sender's name for the log. With `retry`, the events
   * get these ids, and events that were sent with them before are returned instead of being sent twice.
   */
  send(id: string, events: readonly ClientEvent[], by?: string, retry?: RetriedSend): Promise<SessionEvent[]>;
  /** A client that may send messages has opened the session: its process may be started ahead. Never rejects. */
  opened(id: string): Promise<void>;
  /** Removes a queued message and logs it. Rejects with `conflict` if the agent already has it. */
  takeBack(id: string, event: string, by?: string): Promise<void>;
  /** A page of the log; the last page includes the input queue. */
  events(id: string, range: EventRange): Promise<{ events: LoggedEvent[]; waiting: SessionEvent[] }>;
  /** The same as JSON: events are parsed only to redact them. */
  encodedEvents(id: string, range: EventRange): Promise<{ events: EncodedEvent[]; waiting: SessionEvent[] }>;
  head(id: string): Promise<number>;
  /** The sequence number of a logged event; undefined if the log has no such event. */
  position(id: string, event: string): Promise<number | undefined>;
  follow(id: SessionId, after: number, signal: AbortSignal): AsyncIterable<LoggedEvent[]>;
  followEncoded(id: SessionId, after: number, signal: AbortSignal): AsyncIterable<EncodedEvent[]>;
  /**
   * Live previews of a session, in order with its events: called after `follow` has delivered every earlier event. A
   * preview is always heard from its start: a listener that joins during an answer first gets the text so far. It gets no
   * previews of events up to its position `after`. Returns a function that ends the subscription.
   */
  onDelta(id: SessionId, listener: PreviewListener): () => void;
  /**
   * The text so far, for a new client of a listener that has passed on all deltas; it must skip the rest of `torn` events.
   * Undefined while the text may still belong to events up to `after`, which happens only if another process writes them.
   */
  previews(id: SessionId, after: number): { deltas: readonly LiveDelta[]; torn: readonly string[] } | undefined;
  threads(id: string): Promise<Thread[]>;
  /** Permanently ends the idle thread of a subagent. */
  archiveThread(id: string, thread: string, by?: string): Promise<Thread>;
  /** Background tasks of the running process. */
  tasks(id: string): Promise<BackgroundTask[]>;
  stopTask(id: string, taskId: string): Promise<void>;
  /** Slash commands that a person may type in a session. */
  commands(id: string): Promise<SlashCommand[]>;
  /** Slash commands of a session that would work in a folder. */
  commandsIn(folder: string): Promise<SlashCommand[]>;
  /** Runs a shell command in the session's folder for a person; the model sees it with the next message. */
  shell(id: string, command: string, by: string, signal: AbortSignal): Promise<EventOf<"tandem.shell">>;
  /**
   * The session's folder: list a directory, search names and contents, read a file. Links out of the folder are not followed.
   */
  readonly folder: Public<SessionFolderService>;
  /** Files and repositories of a living session. */
  readonly resources: Public<SessionResourceService>;
  /** All sessions and pending approvals, then each change, until the signal fires. */
  feed(signal: AbortSignal): AsyncIterable<FeedItem>;
  usage(span: { from: string; to: string }): Promise<{ day: string; agentId: string; usd: number; sessions: number }[]>;
  modelUsage(span: { from: string; to: string }): Promise<{ day: string; model: string; usd: number }[]>;
}

export interface RetriedSend {
  ids: readonly EventId[];
  /** An earlier try may have sent the events. */
  isResumed: boolean;
}
