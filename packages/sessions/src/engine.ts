import type {
  Agent,
  AgentCreateParams,
  AgentUpdateParams,
  BackgroundTask,
  BudgetGauge,
  BudgetScope,
  ClientEvent,
  Environment,
  EnvironmentCreateParams,
  EnvironmentUpdateParams,
  EventOf,
  FileMetadata,
  Limits,
  LiveDelta,
  LoggedEvent,
  ModelDetails,
  Session,
  SessionCreateParams,
  SessionEvent,
  SessionId,
  SessionStatus,
  SessionUpdateParams,
  Thread,
  CutShort,
} from "@tandem/protocol";
import type { EventRange, Page, PageQuery, SessionStore } from "@tandem/storage";
import type { Halt } from "./budgets/kill-switch.ts";
import type { Approvals } from "./approvals/approvals.ts";
import type { Audit } from "./audit/audit.ts";
import type { History } from "./checkpoints/history.ts";
import type { McpServerView } from "./mcp/tool-definitions.ts";
import type { SessionRuns } from "./fleet/session-runs.ts";
import type { Fleet } from "./fleet/fleet.ts";
import type { Rules } from "./rules/rules.ts";
import type { TrustView } from "./trust/folder-trust.ts";
import type { Worktrees } from "./worktrees/worktrees.ts";
import type { Notifications } from "./notify/notifier.ts";
import type { SlashCommand } from "./commands/command-catalogue.ts";

/**
 * Everything that can be done with agents, environments and sessions, whoever asks: HTTP, ACP, stdio or a command. What it
 * refuses, it refuses with a `RequestError`; what it has acknowledged is durable.
 */
export interface Engine {
  readonly agents: Agents;
  readonly environments: Environments;
  readonly sessions: Sessions;
  readonly history: History;
  readonly approvals: Approvals;
  readonly notifications: Notifications;
  readonly rules: Rules;
  readonly files: Files;
  readonly budgets: BudgetBook;
  readonly killSwitch: Emergency;
  readonly audit: Audit;
  readonly worktrees: Worktrees;
  readonly trust: Trust;
  readonly mcpServers: McpServers;
  readonly fleet: Fleet;
  /** For a worker of a fleet. */
  readonly runs: SessionRuns;
  /** The models that an agent may name. */
  models(): Promise<Model[]>;
  /** Takes up what a former process left: closes what was open, goes on with what waits. Resolves when states are honest. */
  start(): Promise<void>;
  /** Takes nothing new, lets turns end until the deadline, then interrupts them; resolves with no process left. */
  stop(deadlineMs: number): Promise<void>;
}

interface BudgetBook {
  /** Of the day, the project and all agents: what has a limit, or something spent or reserved. */
  list(): Promise<BudgetGauge[]>;
  /** A session's own; and what it shares with others, where that is limited. */
  session(id: string): Promise<BudgetGauge[]>;
  /** Limits of an agent, a project or a day, in place of those before; without `of`, of all that have none of their own. */
  set(scope: BudgetScope, of: string | undefined, limits: Limits, by?: string): Promise<BudgetGauge[]>;
}

/** Stops everything at once. Holds for all servers on the store, and after a restart. */
export interface Emergency {
  /** Undefined where nothing is stopped. */
  state(): Promise<Halt | undefined>;
  /** Every turn is interrupted and every process ended when this resolves; nothing new begins. Turns that wait for a person wait on. */
  stop(by: string, reason: string | null): Promise<Halt & { interrupted: number }>;
  /** What waits goes on. */
  resume(by?: string): Promise<void>;
  /** Another process has stopped everything, or let it go on: so does this one, now. Resolves with how many turns ended. */
  heed(): Promise<number>;
}

/** Whether what a folder brings acts in sessions. Granted on the machine itself alone: `tandem trust --folder`. */
export interface Trust {
  /** A folder that sessions may work in. */
  of(folder: string): Promise<TrustView>;
}

/** MCP servers that sessions have met, with their tools in full. */
export interface McpServers {
  list(): Promise<McpServerView[]>;
  get(id: string): Promise<McpServerView>;
  /** What it says now is accepted, if that is still what the person has read: `hash`. */
  accept(id: string, hash: string, by: string): Promise<McpServerView>;
}

export interface Model extends ModelDetails {
  id: string;
  name: string;
  aliases: readonly string[];
}

export interface Agents {
  create(params: AgentCreateParams): Promise<Agent>;
  get(id: string, version?: number): Promise<Agent>;
  /** Adds a version, unless nothing changes. */
  update(id: string, params: AgentUpdateParams): Promise<Agent>;
  archive(id: string): Promise<Agent>;
  list(query: PageQuery): Promise<Page<Agent>>;
  versions(id: string, query: PageQuery): Promise<Page<Agent>>;
}

export interface Environments {
  create(params: EnvironmentCreateParams): Promise<Environment>;
  get(id: string): Promise<Environment>;
  update(id: string, params: EnvironmentUpdateParams): Promise<Environment>;
  archive(id: string): Promise<Environment>;
  delete(id: string): Promise<void>;
  list(query: PageQuery): Promise<Page<Environment>>;
}

export interface Sessions {
  /** Here and below, `by` is who asks for it, for the log. */
  create(params: SessionCreateParams, by?: string): Promise<Session>;
  get(id: string): Promise<Session>;
  update(id: string, params: SessionUpdateParams, by?: string): Promise<Session>;
  archive(id: string, by?: string): Promise<Session>;
  delete(id: string, by?: string): Promise<void>;
  list(query: Parameters<SessionStore["list"]>[0]): Promise<Page<Session>>;
  /** Puts events into the inbox; they are acknowledged when this resolves. `by` is who sends them, for the log. */
  send(id: string, events: readonly ClientEvent[], by?: string): Promise<SessionEvent[]>;
  /**
   * Takes a message back that nobody has been given yet: the log says so, and it is never put to the agent. Rejects with
   * `conflict` if the agent has it.
   */
  takeBack(id: string, event: string, by?: string): Promise<void>;
  /** A page of the log; with what waits in the inbox at its end, where the page reaches it. */
  events(id: string, range: EventRange): Promise<{ events: LoggedEvent[]; waiting: SessionEvent[] }>;
  head(id: string): Promise<number>;
  follow(id: SessionId, after: number, signal: AbortSignal): AsyncIterable<LoggedEvent[]>;
  /**
   * Live previews of a session, in order with its events: called after the `follow` of every event that came before.
   * Every preview comes from its beginning: who listens in the middle of an answer is called at once with what there is
   * of it, and never with what the log has. With `here`, only while this process writes the session. Returns how to stop.
   */
  onDelta(id: SessionId, listener: (deltas: readonly LiveDelta[]) => void, from?: "here"): () => void;
  threads(id: string): Promise<Thread[]>;
  /** Background tasks of the running process. */
  tasks(id: string): Promise<BackgroundTask[]>;
  stopTask(id: string, taskId: string): Promise<void>;
  /** Slash commands that a person may type in a session. */
  commands(id: string): Promise<SlashCommand[]>;
  /** Those of a session that would work in a folder. */
  commandsIn(folder: string): Promise<SlashCommand[]>;
  /** Runs a command in the session's folder for a person; the model is told of it with the next message. */
  shell(id: string, command: string, by: string, signal: AbortSignal): Promise<EventOf<"tandem.shell">>;
  /** The session's folder: list a directory, search names and contents, read a file. Nothing outside it, whatever links say. */
  readonly folder: SessionFolder;
  /** Sessions and what waits for a person, now; then each change, until the signal fires. */
  feed(signal: AbortSignal): AsyncIterable<FeedItem>;
  usage(span: { from: string; to: string }): Promise<{ day: string; agentId: string; usd: number; sessions: number }[]>;
}

/** One row of the feed: a session in short. */
export interface FeedSession {
  id: string;
  title: string | null;
  status: SessionStatus;
  agent: { id: string; name: string };
  environment_id: string;
  folder: string;
  /** Events that a person has to answer. */
  waiting_for: { event_id: string; type: "tool_confirmation" | "custom_tool_result"; name: string }[];
  list_cost: Session["usage"]["list_cost"];
  /** Why its last turn came to no good end, where it did not. */
  cut_short: CutShort | null;
  /** Until when its turn waits for a quota. */
  parked: { resets_at: string; kind: string } | null;
  created_at: string;
  updated_at: string;
  archived_at: string | null;
}

export type FeedItem =
  | { type: "snapshot"; sessions: FeedSession[] }
  | { type: "changed"; session: FeedSession }
  | { type: "removed"; id: string };

export interface SessionFolder {
  list(
    id: string,
    path: string,
  ): Promise<{ name: string; path: string; type: "file" | "folder" | "link"; size: number }[]>;
  search(
    id: string,
    query: { name?: string; text?: string; limit: number },
  ): Promise<{ path: string; line?: number; text?: string }[]>;
  read(
    id: string,
    path: string,
  ): Promise<
    | { path: string; size: number; truncated: boolean; text: string }
    | { path: string; size: number; base64: string; truncated: boolean }
  >;
}

export interface Files {
  upload(file: {
    filename: string;
    mimeType: string;
    content: Uint8Array;
    expiresInSeconds?: number;
  }): Promise<FileMetadata>;
  get(id: string): Promise<FileMetadata>;
  content(id: string): Promise<{ metadata: FileMetadata; content: Uint8Array }>;
  delete(id: string): Promise<void>;
  list(query: PageQuery & { ids?: readonly string[]; scope?: string }): Promise<Page<FileMetadata>>;
}
