import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import type { SecureContext } from "node:tls";
import { createSecureContext, TLSSocket } from "node:tls";
import { createAuthority, createLeaf } from "./certificate.ts";

/** Everything that Claude Code calls for a model answer on a login. */
export const proxiedHosts: readonly string[] = [
  "api.anthropic.com",
  "platform.claude.com",
  "console.anthropic.com",
  "claude.ai",
];

/** A host that was asked for and is not ours to play. */
export interface RefusedHost {
  readonly host: string;
  readonly at: Date;
}

/**
 * The second way into a rehearsal: callers that cannot be given a base URL reach the hosts by their own names,
 * through CONNECT, and meet our certificates. Private keys stay in memory; the CA's certificate lies in a private folder.
 */
export class ProxyEntrance implements Disposable {
  readonly caFile: string;
  readonly #folder: string;
  readonly #authority = createAuthority();
  readonly #hosts: ReadonlySet<string>;
  readonly #contexts = new Map<string, SecureContext>();
  readonly #sockets = new Set<Duplex>();
  readonly #hostOfSocket = new WeakMap<Duplex, string>();

  constructor(server: Server, hosts: readonly string[], onRefused: (refused: RefusedHost) => void) {
    this.#hosts = new Set(hosts);
    this.#folder = mkdtempSync(join(tmpdir(), "rehearsal-"));
    chmodSync(this.#folder, 0o700);
    this.caFile = join(this.#folder, "ca.pem");
    writeFileSync(this.caFile, this.#authority.pem, { mode: 0o600 });
    server.on("connect", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const target = request.url ?? "";
      const host = target.replace(/:\d+$/, "").toLowerCase();
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      socket.on("error", () => socket.destroy());
      if (!this.#hosts.has(host) || !target.endsWith(":443")) {
        onRefused({ host: target, at: new Date() });
        socket.end("HTTP/1.1 403 Forbidden\r\nx-rehearsal: this host is not part of the rehearsal\r\n\r\n");
        return;
      }
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      if (head.length > 0) socket.unshift(head);
      const secure = new TLSSocket(socket, {
        isServer: true,
        secureContext: this.#contextFor(host),
        ALPNProtocols: ["http/1.1"],
      });
      secure.on("error", () => socket.destroy());
      this.#hostOfSocket.set(secure, host);
      server.emit("connection", secure);
    });
  }

  /** The host behind a tunnel; undefined for a connection that came directly. */
  hostOf(socket: Duplex): string | undefined {
    return this.#hostOfSocket.get(socket);
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #contextFor(host: string): SecureContext {
    const known = this.#contexts.get(host);
    if (known) return known;
    const { privateKey, pem } = createLeaf(host, this.#authority);
    const key = privateKey.export({ type: "pkcs8", format: "pem" });
    const context = createSecureContext({ key, cert: pem });
    this.#contexts.set(host, context);
    return context;
  }
}
