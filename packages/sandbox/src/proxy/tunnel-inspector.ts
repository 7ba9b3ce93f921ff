import { Agent } from "node:https";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { createSecureContext, type SecureContext, TLSSocket } from "node:tls";
import type { Certificate } from "../certificates/certificate.ts";
import type { CheckedTarget } from "./check-target.ts";
import { proxiedHttpsAgent } from "./proxied-agents.ts";
import { forwardHttp, sendText } from "./forward-http.ts";
import { readAuthority, readHostName, type Target } from "./hosts/host-name.ts";
import type { InjectedCredential } from "./injected-credential.ts";
import { createProxyServer, endWith, type ProxyLimits } from "./proxy-server.ts";
import { framingProblem, headerPairs } from "./request-headers.ts";

/** A host whose requests this process answers itself. */
export interface AnsweredHost {
  host: string;
  handle: (request: IncomingMessage, response: ServerResponse) => void;
}

interface InspectorLimits extends ProxyLimits {
  connectMs: number;
}

/** A tunnel to a checked target. */
interface ForwardedTunnel {
  protocol: "http:" | "https:";
  target: CheckedTarget;
  credentials: CurrentCredentials;
  agent?: Agent;
}
/** Read for each request, so that a changed value counts in open tunnels, too. */
type CurrentCredentials = () => Promise<readonly InjectedCredential[]>;

type Tunnel = ForwardedTunnel | { protocol: "https:"; target: Target; handle: AnsweredHost["handle"] };

const ESTABLISHED = "HTTP/1.1 200 Connection Established\r\n\r\n";

/** Without its credential, a request would fail at the host with a misleading error. */
export const UNREADABLE = "The credentials of this session cannot be read at the moment. Try again.";

/** Methods by which a server returns the request with its credential. */
const ECHOING = new Set(["TRACE", "TRACK"]);

/**
 * Reads the requests inside a tunnel, for plain HTTP and for hosts with an injected credential or an answer of our own. For these it terminates TLS, with
 * certificates of an authority that only this sandbox trusts. The connection to the real host has TLS of its own, with the usual
 * verification.
 */
export class TunnelInspector {
  readonly #authority: Certificate | undefined;
  readonly #limits: InspectorLimits;
  readonly #ca: readonly string[] | undefined;
  readonly #server: Server;
  readonly #tunnels = new WeakMap<object, Tunnel>();
  readonly #contexts = new Map<string, Promise<SecureContext>>();

  constructor(authority: Certificate | undefined, limits: InspectorLimits, ca?: readonly string[]) {
    this.#authority = authority;
    this.#limits = limits;
    this.#ca = ca;
    this.#server = createProxyServer(limits, {
      request: (request, response) => void this.#forward(request, response),
      connect: (_request, socket) => endWith(socket, 403, "This connection is already a tunnel."),
      upgrade: (socket) => endWith(socket, 403, "The sandbox does not upgrade connections to this host."),
    });
  }

  acceptPlain(socket: Duplex, target: CheckedTarget): void {
    socket.write(ESTABLISHED);
    this.#tunnels.set(socket, { protocol: "http:", target, credentials: async () => [] });
    this.#server.emit("connection", socket);
  }

  async acceptTls(socket: Duplex, target: CheckedTarget, credentials: CurrentCredentials): Promise<void> {
    const options = { keepAlive: true, maxSockets: 4, ...(this.#ca && { ca: [...this.#ca] }) };
    const { connectMs } = this.#limits;
    const agent = target.via ? proxiedHttpsAgent(target, connectMs, options) : new Agent(options);
    socket.once("close", () => agent.destroy());
    await this.#terminate(socket, { protocol: "https:", target, credentials, agent });
  }

  acceptAnswered(socket: Duplex, { host, handle }: AnsweredHost): Promise<void> {
    return this.#terminate(socket, { protocol: "https:", target: { host, port: 443 }, handle });
  }

  async #terminate(socket: Duplex, tunnel: Tunnel): Promise<void> {
    const secureContext = await this.#contextFor(tunnel.target.host);
    if (socket.destroyed) return;
    socket.write(ESTABLISHED);
    const secure = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ["http/1.1"] });
    const handshake = setTimeout(() => socket.destroy(), this.#limits.headersMs);
    secure.once("secure", () => clearTimeout(handshake));
    secure.on("error", () => socket.destroy());
    socket.once("close", () => {
      clearTimeout(handshake);
      secure.destroy();
    });
    this.#tunnels.set(secure, tunnel);
    this.#server.emit("connection", secure);
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const tunnel = this.#tunnels.get(request.socket);
    if (!tunnel) return void response.destroy();
    const problem = framingProblem(headerPairs(request.rawHeaders)) ?? this.#problem(request, tunnel);
    if (problem !== undefined) return sendText(response, 403, problem);
    if ("handle" in tunnel) return tunnel.handle(request, response);
    const credentials = await tunnel.credentials().catch(() => undefined);
    if (!credentials) return sendText(response, 502, UNREADABLE);
    await forwardHttp(request, response, {
      ...tunnel,
      credentials,
      path: request.url!,
      idleMs: this.#limits.idleMs,
      connectMs: this.#limits.connectMs,
    });
  }

  /** The credential belongs to the host of the tunnel, so it must not go to another virtual host behind the same address. */
  #problem({ headers, url = "", method = "" }: IncomingMessage, { target, protocol }: Tunnel): string | undefined {
    if (!url.startsWith("/")) return "Inside a tunnel, name a path only.";
    if (ECHOING.has(method)) return `The sandbox does not allow ${method}.`;
    if (headers.upgrade !== undefined) return "The sandbox does not upgrade connections to this host.";
    const authority = readAuthority(headers.host ?? "", protocol === "https:" ? 443 : 80);
    const name = authority && readHostName(authority.host);
    const isSame = name?.kind === "name" && name.host === target.host && authority?.port === target.port;
    return isSame ? undefined : `This tunnel leads to ${target.host} only.`;
  }

  #contextFor(host: string): Promise<SecureContext> {
    const known = this.#contexts.get(host);
    if (known) return known;
    const context = this.#createContext(host);
    this.#contexts.set(host, context);
    context.catch(() => this.#contexts.delete(host));
    return context;
  }

  async #createContext(host: string): Promise<SecureContext> {
    if (!this.#authority) throw new Error("There is no authority.");
    const { createLeaf } = await import("../certificates/certificate.ts");
    const { keyPem, pem } = await createLeaf(host, this.#authority);
    return createSecureContext({ key: keyPem, cert: pem });
  }
}
