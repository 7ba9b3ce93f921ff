/** Limits of ACP connections. Each bounds memory or a number of slots. */
export interface AcpLimits {
  maxConnections: number;
  maxConnectionsPerToken: number;
  /** Unanswered requests of one connection. */
  maxRequests: number;
  /** Session streams of one connection. The least recently used stream without a listener is evicted. */
  maxSessionStreams: number;
  /** Sent messages that a stream keeps for a client that reconnects. */
  replayBytes: number;
  /** Unsent bytes at which the agent waits and new requests are refused. */
  waitingBytes: number;
  /** A client that reads nothing for this long with a full buffer is disconnected. */
  stallMs: number;
  /**
   * A connection without listener and requests is closed after this time, which bounds how late a client can reconnect.
   */
  idleMs: number;
  /** Deadline for the agent to answer `initialize` and to close. */
  answerMs: number;
  /** A socket's token is checked again before the next message after this time. */
  tokenMs: number;
}

const MIB = 1024 * 1024;

export const defaultAcpLimits: AcpLimits = {
  maxConnections: 500,
  maxConnectionsPerToken: 100,
  maxRequests: 1_000,
  maxSessionStreams: 64,
  replayBytes: MIB,
  waitingBytes: 8 * MIB,
  stallMs: 60_000,
  idleMs: 30 * 60_000,
  answerMs: 30_000,
  tokenMs: 1_000,
};
