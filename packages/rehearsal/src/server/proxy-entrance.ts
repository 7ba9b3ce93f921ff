import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import type { SecureContext } from "node:tls";
import { createSecureContext, TLSSocket } from "node:tls";
import type { Certificate } from "@tandem/sandbox/certificates";

/** All hosts that Claude Code calls for a model answer on a login. */
export const proxiedHosts: readonly string[] = [
  "api.anthropic.com",
  "platform.claude.com",
  "console.anthropic.com",
  "claude.ai",
];

/** A requested host that is not simulated. */
export interface RefusedHost {
  readonly host: string;
  readonly at: Date;
}

/**
 * The proxy of a rehearsal: callers without a base URL setting reach the hosts by name, through CONNECT and our
 * certificates. Private keys stay in memory; the CA's certificate is in a private folder.
 */
export class ProxyEntrance implements Disposable {
  readonly caFile: string;
  readonly #folder: string;
  readonly #authority: Certificate;
  readonly #hosts: ReadonlySet<string>;
  readonly #contexts = new Map<string, Promise<SecureContext>>();
  readonly #sockets = new Set<Duplex>();
  readonly #hostOfSocket = new WeakMap<Duplex, string>();

  /** Imports the certificate library on demand, because it is slow and seldom needed. */
  static async open(
    server: Server,
    hosts: readonly string[],
    onRefused: (refused: RefusedHost) => void,
  ): Promise<ProxyEntrance> {
    const { createAuthority } = await import("@tandem/sandbox/certificates");
    return new ProxyEntrance(server, hosts, await createAuthority("Rehearsal CA"), onRefused);
  }

  private constructor(
    server: Server,
    hosts: readonly string[],
    authority: Certificate,
    onRefused: (refused: RefusedHost) => void,
  ) {
    this.#hosts = new Set(hosts);
    this.#authority = authority;
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
      this.#tunnel(server, socket, head, host).catch(() => socket.destroy());
    });
  }

  /** The host behind a tunnel; undefined for a direct connection. */
  hostOf(socket: Duplex): string | undefined {
    return this.#hostOfSocket.get(socket);
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #tunnel(server: Server, socket: Duplex, head: Buffer, host: string): Promise<void> {
    const secureContext = await this.#contextFor(host);
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    if (head.length > 0) socket.unshift(head);
    const secure = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ["http/1.1"] });
    secure.on("error", () => socket.destroy());
    this.#hostOfSocket.set(secure, host);
    server.emit("connection", secure);
  }

  #contextFor(host: string): Promise<SecureContext> {
    const known = this.#contexts.get(host);
    if (known) return known;
    const context = this.#createContext(host);
    this.#contexts.set(host, context);
    return context;
  }

  async #createContext(host: string): Promise<SecureContext> {
    const { createLeaf } = await import("@tandem/sandbox/certificates");
    const { keyPem, pem } = await createLeaf(host, this.#authority);
    return createSecureContext({ key: keyPem, cert: pem });
  }
}
