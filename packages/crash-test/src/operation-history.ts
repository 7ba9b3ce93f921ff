/** The kinds of work that the clients order. Each exercises another state of a session. */
export const ORDER_KINDS = ["talk", "tool", "approval", "custom", "interrupt"] as const;
export type OrderKind = (typeof ORDER_KINDS)[number];

/** The states in which a fault can hit a session. */
export const SESSION_STATES = ["idle", "model", "tool", "approval", "custom", "resuming"] as const;
export type SessionState = (typeof SESSION_STATES)[number];

/** One message with a unique key, and what the clients do about it. Times are milliseconds of this process's clock. */
export interface Order {
  key: string;
  kind: OrderKind;
  session: string;
  text: string;
  sentAt: number;
  /** When the client saw the end of its turn. */
  endedAt?: number;
  /** A 2xx answer arrived for the message. */
  isAcknowledged: boolean;
}

/** A 2xx answer to a request that stores an event. */
export interface Acknowledgement {
  session: string;
  event: string;
  type: string;
}

/** An answer to a call that waited for a client. */
export interface CallAnswer {
  session: string;
  call: string;
  verdict: "allow" | "deny" | "result";
  client: string;
  sentAt: number;
  /** `lost`: the connection broke or the server failed, so that the client cannot know. */
  outcome: "accepted" | "refused" | "lost";
}

export interface SeenEvent {
  id: string;
  type: string;
  /** Accepted, but not taken by a turn yet. Its place in the list is not final. */
  isQueued: boolean;
  /** The event as JSON with sorted keys. */
  json: string;
  event: Record<string, unknown>;
}

/** The whole event list of a session, as one client read it. Reads of a session do not overlap. */
export interface Read {
  session: string;
  at: number;
  events: readonly SeenEvent[];
}

/** What a client that follows the stream of a session from its beginning, over all its connections, has got. */
export interface StreamRead {
  session: string;
  /** The events' ids, in order of arrival. */
  ids: string[];
  /** Those that the client found in the list after it had opened the stream. */
  listed: string[];
  connections: number;
  /** An event that did not arrive in time. */
  missed?: { id: string; waitedMs: number };
}

/** One execution of a tool's command, seen by its effect. */
export interface Effect {
  id: string;
  at: number;
  through: "http" | "file";
}

/** A reply of the scripted model. */
export interface ModelReply {
  order: string;
  number: number;
  type: "call" | "answer";
  at: number;
  /** Claude Code's id of the conversation that asked, if Claude Code asked. */
  conversation?: string;
}

export interface FaultRecord {
  kind: string;
  state: SessionState;
  from: number;
  to: number;
  /** It hits processes, so that a running call may end with an unknown outcome. Network faults do not. */
  hitsProcess: boolean;
}

/** A resource whose creation was acknowledged. */
interface Created {
  type: "agent" | "session";
  id: string;
  /** Whether the server still has it at the end. */
  isThere: boolean;
}

interface Settled {
  session: string;
  isSettled: boolean;
  waitedMs: number;
  /** The event that the client waited for. */
  detail: string;
}

export interface LeftProcess {
  pid: number;
  command: string;
}

/** A process of the server that ended without a fault, or did not start again after one. */
export interface Outage {
  process: string;
  type: "ended_by_itself" | "did_not_start";
  at: number;
  detail: string;
}

/** All that an observer outside the server has seen during one round. */
export interface History {
  orders: Order[];
  acknowledgements: Acknowledgement[];
  answers: CallAnswer[];
  reads: Read[];
  streams: StreamRead[];
  effects: Effect[];
  replies: ModelReply[];
  faults: FaultRecord[];
  created: Created[];
  settled: Settled[];
  leftProcesses: LeftProcess[];
  outages: Outage[];
}

export const emptyHistory = (): History => ({
  orders: [],
  acknowledgements: [],
  answers: [],
  reads: [],
  streams: [],
  effects: [],
  replies: [],
  faults: [],
  created: [],
  settled: [],
  leftProcesses: [],
  outages: [],
});
