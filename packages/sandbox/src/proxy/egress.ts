import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import {
  type CheckedTarget,
  checkTarget,
  createResolver,
  isUnreachable,
  type ResolveName,
  type UpstreamOptions,
} from "./check-target.ts";
import { caBundle } from "./ca-trust.ts";
import { connectChecked } from "./connect-checked.ts";
import { type EgressRefusal, refusal, RefusalReports } from "./egress-refusal.ts";
import { forwardHttp, sendText } from "./forward-http.ts";
import { readAuthority, readHostName, type Target } from "./hosts/host-name.ts";
import type { HostFilter } from "./hosts/host-rules.ts";
import { CredentialInjector, type InjectedCredential } from "./injected-credential.ts";
import { type AnsweredHost, TunnelInspector, UNREADABLE } from "./tunnel-inspector.ts";
import { listenOnSocket, type SocketOwner } from "./listen-on-socket.ts";
import { createProxyServer, endWith, type ProxyLimits } from "./proxy-server.ts";
import { framingProblem, headerPairs, valuesOf } from "./request-headers.ts";
import { joinSockets } from "./join-sockets.ts";
import { serverNameGuard, ServerNameError } from "./hosts/server-name-guard.ts";
import { readProxyRoute, UpstreamError } from "./upstream-proxy.ts";

export interface EgressLimits extends ProxyLimits {
  connectMs: number;
}

export interface EgressOptions {
  /** The path of the unix socket. */
  socket: string;
  /** Decides by name. Called for each connection, so that a host allowed meanwhile works at once. */
  isAllowed: HostFilter;
  /** Each refusal once a minute. */
  onRefused: (refusal: EgressRefusal) => void;
  /** Requests to this host, on port 443, are answered here instead. Needs no rule. */
  answered?: AnsweredHost;
  /** Their hosts need a rule of their own. */
  credentials?: readonly InjectedCredential[];
  /** Further ones that may change meanwhile: read for each connection, and for each request of an intercepted host. */
  currentCredentials?: () => Promise<readonly InjectedCredential[]>;
  owner?: SocketOwner;
  /** The host's variables with the proxy of its network. `byName`: that proxy gets names instead of checked addresses. */
  proxy?: { variables: Readonly<Record<string, string | undefined>>; byName: boolean };
  resolve?: ResolveName;
  isPrivate?: (address: string) => boolean;
  /** Replaces the trusted roots of hosts with a credential, in tests. */
  ca?: readonly string[];
  limits?: Partial<EgressLimits>;
  now?: () => number;
}

export interface Egress extends AsyncDisposable {
  readonly socket: string;
  /** The authority of intercepted hosts, as PEM. Undefined if there are none. */
  readonly caCertificate: string | undefined;
  /** The same with the host's roots. Mount it and set `caVariables`. */
  readonly caBundle: string | undefined;
}

const LIMITS: EgressLimits = {
  connections: 256,
  headerBytes: 65_536,
  headersMs: 20_000,
  requestMs: 3_600_000,
  idleMs: 900_000,
  connectMs: 20_000,
};
const SSH_PORT = 22;
const HTTP_PORT = 80;
/** A fatal alert of TLS. */
const UNRECOGNIZED_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/**
 * The only way out of a sandbox: a forward proxy on a unix socket, for CONNECT and `http://` URLs. It resolves names itself and
 * connects to public addresses of allowed hosts only. It sees inside TLS for hosts with an injected credential only.
 */
export async function startEgress(options: EgressOptions): Promise<Egress> {
  const injector = new CredentialInjector(options.credentials ?? []);
  const intercepts = !injector.isEmpty || options.currentCredentials !== undefined || options.answered !== undefined;
  const authority = intercepts ? await createAuthority() : undefined;
  const limits = { ...LIMITS, ...options.limits };
  const inspector = new TunnelInspector(authority, limits, options.ca);
  const handler = new EgressHandler(options, limits, injector, inspector);
  const server = createProxyServer(limits, {
    request: (request, response) => void handler.forward(request, response),
    connect: (request, socket, head) => void handler.connect(request, socket, head).catch(() => socket.destroy()),
    upgrade: (socket) => endWith(socket, 403, "The sandbox's proxy does not upgrade plain connections."),
  });
  const listening = await listenOnSocket(server, options.socket, options.owner);
  return {
    socket: listening.path,
    caCertificate: authority?.pem,
    caBundle: authority && caBundle(authority.pem),
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
}

/** The library is slow to load and seldom needed. */
async function createAuthority() {
  const certificates = await import("../certificates/certificate.ts");
  return certificates.createAuthority("Tandem sandbox CA");
}

class EgressHandler {
  readonly #options: EgressOptions;
  readonly #limits: EgressLimits;
  readonly #injector: CredentialInjector;
  readonly #inspector: TunnelInspector;
  readonly #reports: RefusalReports;
  readonly #resolve: ResolveName;
  readonly #proxy: UpstreamOptions | undefined;

  constructor(options: EgressOptions, limits: EgressLimits, injector: CredentialInjector, inspector: TunnelInspector) {
    this.#options = options;
    this.#limits = limits;
    this.#injector = injector;
    this.#inspector = inspector;
    this.#reports = new RefusalReports(options.onRefused, options.now ?? Date.now);
    this.#resolve = options.resolve ?? createResolver();
    const route = options.proxy && readProxyRoute(options.proxy.variables);
    this.#proxy = route && { route, byName: options.proxy!.byName };
  }

  async connect(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const problem = framingProblem(headerPairs(request.rawHeaders)) ?? connectProblem(request, head);
    if (problem !== undefined) return endWith(socket, 400, problem);
    const given = readAuthority(request.url ?? "");
    const { answered } = this.#options;
    if (given && answered && given.host.toLowerCase() === answered.host && given.port === 443) {
      return this.#inspector.acceptAnswered(socket, answered);
    }
    const checked = await this.#check(given, request.url ?? "");
    if (!checked.ok) return refuseTunnel(socket, checked.refusal);
    const { target } = checked;
    // As with TLS, the address would serve other hosts, too: each request must name this one.
    if (target.port === HTTP_PORT) return this.#inspector.acceptPlain(socket, target);
    const credentials = await this.#credentialsFor(target).catch(() => undefined);
    if (!credentials) return endWith(socket, 502, UNREADABLE);
    if (credentials.length > 0) {
      return this.#inspector.acceptTls(socket, target, () => this.#credentialsFor(target));
    }
    return this.#tunnel(socket, target);
  }

  async forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pairs = headerPairs(request.rawHeaders);
    const problem = framingProblem(pairs) ?? forwardProblem(request);
    if (problem !== undefined) return sendText(response, 400, problem);
    const [, authority = "", path = ""] = /^http:\/\/([^/?#]*)([^#]*)$/is.exec(request.url ?? "") ?? [];
    const given = readAuthority(authority, 80);
    if (given && !isSameHost(given, valuesOf(pairs, "host")[0] ?? "")) {
      return sendText(response, 400, "The Host header names another host than the URL.");
    }
    const checked = await this.#check(given, authority);
    if (!checked.ok) return sendText(response, 403, `${checked.refusal.message} ${checked.refusal.fix}`);
    await forwardHttp(request, response, {
      protocol: "http:",
      target: checked.target,
      path: path.startsWith("/") ? path : `/${path}`,
      credentials: [],
      idleMs: this.#limits.idleMs,
      connectMs: this.#limits.connectMs,
    });
  }

  async #credentialsFor(target: Target): Promise<readonly InjectedCredential[]> {
    if (target.port === SSH_PORT) return [];
    const current = (await this.#options.currentCredentials?.()) ?? [];
    return [...this.#injector.for(target), ...new CredentialInjector(current).for(target)];
  }

  async #check(given: Target | undefined, text: string) {
    const { isAllowed, isPrivate = isUnreachable } = this.#options;
    const checked = given
      ? await checkTarget(given, { isAllowed, isPrivate, resolve: this.#resolve, proxy: this.#proxy })
      : { ok: false as const, refusal: refusal({ host: text, port: 0 }, "malformed") };
    if (!checked.ok) this.#reports.add(checked.refusal);
    return checked;
  }

  async #tunnel(client: Duplex, target: CheckedTarget): Promise<void> {
    let upstream: Socket;
    try {
      upstream = await connectChecked(target, this.#limits.connectMs);
    } catch (error) {
      const why = error instanceof UpstreamError ? ` ${error.message}` : "";
      return endWith(client, 502, `${target.host} cannot be reached.${why}`);
    }
    if (client.destroyed) return void upstream.destroy();
    client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    const guard = serverNameGuard(target);
    guard.once("error", (error) => {
      upstream.destroy();
      client.end(UNRECOGNIZED_NAME, () => client.destroy());
      const host = error instanceof ServerNameError ? error.serverName : "";
      this.#reports.add(refusal({ host: host === "" ? target.host : host, port: target.port }, "server_name"));
    });
    joinSockets(client as Socket, upstream, this.#limits.idleMs, guard);
  }
}

function refuseTunnel(socket: Duplex, { message, fix, host }: EgressRefusal): void {
  // Python and others show the reason phrase, and few show the body.
  endWith(socket, 403, `${message} ${fix}`, `Refused by the sandbox: ${host}`);
}

function connectProblem({ headers }: IncomingMessage, head: Buffer): string | undefined {
  if (head.length > 0) return "Wait for the answer to CONNECT before sending data.";
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  return hasBody ? "CONNECT has no body." : undefined;
}

function forwardProblem({ url = "", method, headers }: IncomingMessage): string | undefined {
  if (/^https:/i.test(url)) return "Use CONNECT for https:// URLs.";
  if (!/^http:\/\//i.test(url)) return "This is a proxy: use CONNECT, or an http:// URL.";
  if (method === "TRACE" || method === "TRACK") return `The sandbox does not allow ${method}.`;
  return headers.upgrade === undefined ? undefined : "The sandbox's proxy does not upgrade plain connections.";
}

function isSameHost(given: Target, header: string): boolean {
  const other = readAuthority(header, 80);
  const [a, b] = [given.host, other?.host ?? ""].map(readHostName);
  if (a?.kind !== "name" || b?.kind !== "name") return given.host.toLowerCase() === other?.host.toLowerCase();
  return a.host === b.host && given.port === other?.port;
}
