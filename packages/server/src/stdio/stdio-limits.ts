const MIB = 1024 * 1024;

/** Announced to the host in the first line. */
export interface StdioLimits {
  /** The length of a line in either direction, without terminator. Slightly more than the API's limit for JSON. */
  lineBytes: number;
  /** Unanswered requests. */
  requests: number;
  /** Open streams. */
  streams: number;
}

export const defaultLimits: StdioLimits = { lineBytes: 33 * MIB, requests: 64, streams: 256 };
