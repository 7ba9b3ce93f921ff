/** What connections of editors may take. Each keeps memory or a place from being used up. */
export interface AcpLimits {
  maxConnections: number;
  maxConnectionsPerToken: number;
  /** Requests of one connection that are not answered yet. */
  maxRequests: number;
  /** Streams of sessions that one connection keeps; the one that was used longest ago makes room, if nobody listens to it. */
  maxSessionStreams: number;
  /** What a client has been sent and may ask for again after a cut, for each stream. */
  replayBytes: number;
  /** What waits for a client that does not read; with so much, the agent waits too, and requests are refused. */
  waitingBytes: number;
  /** A client that takes nothing for so long, though so much waits, has gone. */
  stallMs: number;
  /** A connection that nobody listens to and nobody sends to is closed after so long: the time that a cut may last. */
  idleMs: number;
  /** An agent answers `initialize` within this, and lets go of a closed connection. */
  answerMs: number;
  /** A token that was valid so long ago is looked at again before a socket's next message is taken. */
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
