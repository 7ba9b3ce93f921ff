import { TandemError } from "@tandem/protocol";
import { type AcpLimits, defaultAcpLimits } from "../acp/net/acp-limits.ts";

/** How the server listens, whom it lets in, and what it bears. `defaultSettings` is closed: this machine only. */
export interface ServerSettings {
  host: string;
  /** 0 takes any that is free. */
  port: number;
  /** Without it, an address that other machines can reach is refused; with it, TLS or a trusted proxy is wanted too. */
  allowRemote: boolean;
  /** PEM text. */
  tls: { cert: string; key: string } | undefined;
  /** A proxy in front of the server ends TLS; its `x-forwarded-for` goes into the access log. */
  trustedProxy: boolean;
  /** Names by which the server may be called, beside those of this machine itself. */
  allowedHosts: readonly string[];
  /** Origins of web pages that may call it, beside its own: `https://app.example`. Only these ever get CORS headers. */
  allowedOrigins: readonly string[];

  maxJsonBytes: number;
  maxUploadBytes: number;
  /** Files are held in memory while they are uploaded and downloaded: so much of it for all of them together. */
  maxFileBytesAtOnce: number;
  /** A client that is slower than this with its headers, or with its whole request, is cut off (slowloris). */
  headersTimeoutMs: number;
  requestTimeoutMs: number;
  /** The engine has so long for one request. */
  handlerTimeoutMs: number;
  /** And so long where a worktree may have to be made ready first. */
  patientTimeoutMs: number;
  /** Longer than that of most: a connection that says nothing, or takes nothing of what it is sent, is cut off. */
  silenceTimeoutMs: number;

  /** Proxies and Node's own fetch give up on a stream that is silent for minutes. */
  heartbeatMs: number;
  /** What arises within this time goes out in one write. Much less than a token takes (some 20 ms), or it would wait. */
  batchMs: number;
  /** With so many unsent bytes, a client gets no previews. */
  slowBytes: number;
  /** With so many, it is told to resync and let go. */
  stuckBytes: number;
  maxStreamsPerToken: number;
  /** What connections of editors may take. */
  acp: AcpLimits;

  /** Hold every answer against its schema, and fail where it does not fit. For tests. */
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
  patientTimeoutMs: 780_000,
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

/** Refuses to listen where others could come in unprotected. */
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
