import type { Delta, EventOf, Message, SessionEvent, SessionEventType } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";

/** An event of a session, or a preview of one that is still being produced. */
export type LiveItem = { type: "event"; event: SessionEvent } | { type: "delta"; delta: Delta };

export interface ClientOptions {
  /** The command name, shown when another process finds a session locked. */
  command: string;
  /** The session's folder. A server that may not work there is not used. */
  folder?: string;
  /** Whether the engine needs to run turns, if it is in this process. */
  runs?: boolean;
}

/** Resources of which both clients have all methods of the engine. */
type Shared =
  | "history"
  | "approvals"
  | "webhooks"
  | "budgets"
  | "sandboxHosts"
  | "skills"
  | "deployments"
  | "vaults"
  | "vaultLogins"
  | "mcpServers"
  | "worktrees";

/**
 * Agents and sessions of the running server or of an engine in this process. Errors are a `RequestError` in both cases.
 *
 * A command beside a server loads no engine, and one with its own engine loads no HTTP: a connection to an HTTP server in this
 * process would add over 100 ms of CPU time to each command.
 */
export interface SessionsClient extends Pick<Engine, Shared>, AsyncDisposable {
  /** Undefined for an engine in this process. */
  readonly url: string | undefined;
  readonly agents: Pick<Engine["agents"], "create" | "get" | "update" | "archive" | "list">;
  readonly environments: Pick<Engine["environments"], "create" | "list">;
  readonly work: Pick<Engine["work"], "stats">;
  /** Keys of the workers of self-hosted environments, by the local user. */
  readonly environmentKeys: {
    list: Engine["environmentKeys"]["list"];
    create(environment: string, params: { name?: string }): ReturnType<Engine["environmentKeys"]["create"]>;
    revoke(environment: string, id: string): Promise<void>;
  };
  readonly sessions: Pick<Engine["sessions"], "create" | "get" | "update" | "delete" | "list" | "send" | "commands"> & {
    /** Runs a command in the session's folder as the local user. */
    shell(id: string, command: string, signal: AbortSignal): Promise<EventOf<"tandem.shell">>;
  };
  readonly notifications: Pick<Engine["notifications"], "list" | "test">;
  readonly rules: Pick<Engine["rules"], "list" | "add" | "remove" | "test">;
  readonly triggers: Omit<Engine["triggers"], "receive">;
  readonly killSwitch: Omit<Engine["killSwitch"], "heed">;
  readonly audit: Pick<Engine["audit"], "list" | "export" | "verify">;
  /** The name of the process that holds a session, if any. A server's client does not report it. */
  holder(session: string): Promise<{ name: string; isHere: boolean } | undefined>;
  /** The newest events of a session, newest first. */
  newest(session: string, query: { limit: number; types?: readonly SessionEventType[] }): Promise<SessionEvent[]>;
  /** The last messages of a session, oldest first, and whether there are earlier ones. */
  messages(session: string, limit: number): Promise<{ messages: readonly Message[]; more: boolean }>;
  /** All events and previews of the primary thread after this resolves, or from the first one, until the signal aborts. */
  follow(session: string, signal: AbortSignal, from?: "first" | "now"): Promise<AsyncIterable<LiveItem>>;
}

export const isDelta = (value: SessionEvent | Delta): value is Delta => !("processed_at" in value);
