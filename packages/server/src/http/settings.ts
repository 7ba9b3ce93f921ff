import { TandemError } from "@tandem/protocol";
import { type AcpLimits, defaultAcpLimits } from "./acp-limits.ts";

/** Listening address, access and limits of the server. `defaultSettings` allows this machine only. */
export interface ServerSettings {
  host: string;
  /** 0 picks a free port. */
  port: number;
  /** Allows an address that other machines can reach; TLS or a trusted proxy is required as well. */
  allowRemote: boolean;
  /** PEM text. */
  tls: { cert: string; key: string } | undefined;
  /** A proxy in front of the server terminates TLS; its `x-forwarded-for` is logged. */
  trustedProxy: boolean;
  /** Host names of the server besides those of this machine. */
  allowedHosts: readonly string[];
  /** Foreign origins that may call the server, such as `https://app.example`. Only these get CORS headers. */
  allowedOrigins: readonly string[];

  maxJsonBytes: number;
  maxUploadBytes: number;
  /** Files are held in memory during upload and download; this limits their total. */
  maxFileBytesAtOnce: number;
  /** Disconnects clients that send their headers, or the whole request, too slowly (slowloris). */
  headersTimeoutMs: number;
  requestTimeoutMs: number;
  /** The time limit of a handler. */
  handlerTimeoutMs: number;
  /** The time limit of a handler that may have to set up a worktree first. */
  longTimeoutMs: number;
  /** Closes connections without any traffic. Must be longer than the time limit of most handlers. */
  silenceTimeoutMs: number;

  /** Proxies and Node's fetch abort streams that are silent for minutes. */
  heartbeatMs: number;
  /**
   * Items within this time are sent in one write. Must be well below the time of a token (about 20 ms) to avoid delay.
   */
  batchMs: number;
  /** Above this many unsent bytes, a client gets no previews. */
  slowBytes: number;
  /** Above this many, the server sends `tandem.resync` and disconnects it. */
  stuckBytes: number;
  maxStreamsPerToken: number;
  /** Limits of ACP connections. */
  acp: AcpLimits;

  /** Validates every response against its schema. For tests. */
  checkResponses: boolean;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const defaultSettings: ServerSettings = {
  host: "127.0.0.1",
  port: 4760,
  allowRemote: false,
  tls: undefined,
  trustedProxy: false,
  allowedHosts: [],
  allowedOrigins: [],
  maxJsonBytes: 32 * MIB,
  maxUploadBytes: 100 * MIB,
  maxFileBytesAtOnce: 400 * MIB,
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 300_000,
  handlerTimeoutMs: 120_000,
  longTimeoutMs: 780_000,
  silenceTimeoutMs: 180_000,
  heartbeatMs: 15_000,
  batchMs: 5,
  slowBytes: 256 * KIB,
  stuckBytes: 4 * MIB,
  maxStreamsPerToken: 2_000,
  acp: defaultAcpLimits,
  checkResponses: false,
};

export const isLoopback = (host: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host) || host === "::ffff:127.0.0.1";

/** Refuses an unprotected address that other machines can reach. */
export function checkBinding({ host, allowRemote, tls, trustedProxy }: ServerSettings): void {
  if (isLoopback(host)) return;
  if (!allowRemote) {
    throw new TandemError("bind_refused", `${host} can be reached by other machines, and that has not been allowed.`, {
      fix: "Listen on 127.0.0.1, or allow remote access explicitly.",
    });
  }
  if (!tls && !trustedProxy) {
    throw new TandemError("bind_refused", `On ${host}, tokens would cross the network in the clear.`, {
      fix: "Give the server a TLS certificate and key, or put it behind a trusted proxy that ends TLS and say so.",
    });
  }
}
