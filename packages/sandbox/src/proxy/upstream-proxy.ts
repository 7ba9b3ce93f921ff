import { connect, isIPv6, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { readHostName, type Target } from "./hosts/host-name.ts";

/** The proxy of this machine's network, from `HTTPS_PROXY` or `HTTP_PROXY`. Its password stays out of texts and errors. */
export interface UpstreamProxy {
  isTls: boolean;
  host: string;
  port: number;
  /** The value of `Proxy-Authorization`. */
  authorization: string | undefined;
}

/** The proxy that connections to a target use. Undefined: none. */
export type ProxyRoute = (target: Target) => UpstreamProxy | undefined;

/** The upstream proxy does not connect. The message is shown inside the sandbox. */
export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
}

const HTTP_PORT = 80;
const MAX_ANSWER = 16_384;

/** Reads the same variables as Node and Claude Code do. Throws an `UpstreamError` for an address that cannot be used. */
export function readProxyRoute(variables: Readonly<Record<string, string | undefined>>): ProxyRoute | undefined {
  const read = (name: string): string => (variables[name.toLowerCase()] || variables[name]) ?? "";
  const [secure, plain] = ["HTTPS_PROXY", "HTTP_PROXY"].map((name) => readProxy(read(name)));
  if (!secure && !plain) return undefined;
  const excepted = read("NO_PROXY").split(/[\s,]+/);
  return (target) => {
    if (excepted.some((pattern) => isExcepted(pattern, target))) return undefined;
    return target.port === HTTP_PORT ? plain : secure;
  };
}

function readProxy(text: string): UpstreamProxy | undefined {
  if (text === "") return undefined;
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "") {
    throw new UpstreamError("The proxy in HTTPS_PROXY or HTTP_PROXY is not a usable address.");
  }
  const isTls = url.protocol === "https:";
  const [user, password] = [url.username, url.password].map(decoded);
  return {
    isTls,
    host: url.hostname.replaceAll(/^\[|\]$/g, ""),
    port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
    authorization:
      url.username === "" ? undefined : `Basic ${Buffer.from(`${user}:${password}`, "utf8").toString("base64")}`,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** As curl does: `example.com` and `.example.com` cover the domain and its subdomains, `*` everything. */
function isExcepted(pattern: string, { host, port }: Target): boolean {
  if (pattern === "*") return true;
  const [, name = "", digits] = /^(?:\*?\.)?([^:]+)(?::(\d+))?$/.exec(pattern) ?? [];
  const read = readHostName(name);
  if (read.kind !== "name" || (digits !== undefined && Number(digits) !== port)) return false;
  return host === read.host || host.endsWith(`.${read.host}`);
}

/** Opens a tunnel through the proxy to a name or an address. */
export async function connectThrough(
  proxy: UpstreamProxy,
  to: Target,
  { timeoutMs }: { timeoutMs: number },
): Promise<Socket> {
  const socket = openSocket(proxy);
  const timer = setTimeout(() => socket.destroy(new UpstreamError("The proxy of this machine timed out.")), timeoutMs);
  try {
    const authority = `${isIPv6(to.host) ? `[${to.host}]` : to.host}:${to.port}`;
    const authorization = proxy.authorization === undefined ? "" : `Proxy-Authorization: ${proxy.authorization}\r\n`;
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`);
    const status = await readStatus(socket);
    if (status < 200 || status > 299) throw new UpstreamError(refused(status));
    return socket;
  } catch (error) {
    socket.destroy();
    if (error instanceof UpstreamError) throw error;
    // The error of a socket names the proxy's address.
    throw new UpstreamError("The proxy of this machine cannot be reached.");
  } finally {
    clearTimeout(timer);
  }
}

function openSocket({ isTls, host, port }: UpstreamProxy): Socket {
  const plain = connect({ host, port, autoSelectFamily: true, allowHalfOpen: true });
  if (!isTls) return plain;
  const secure = connectTls({ socket: plain, ...(readHostName(host).kind === "name" && { servername: host }) });
  plain.once("error", (error) => secure.destroy(error));
  return secure;
}

/** Reads up to the end of the headers; bytes after it belong to the tunnel. */
function readStatus(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let read: Buffer = Buffer.alloc(0);
    const stop = (): void => {
      socket.off("data", take).off("error", fail).off("end", close).off("close", close);
    };
    const close = (): void => fail(new Error("closed"));
    const fail = (error: Error): void => {
      stop();
      // A later error of a destroyed socket must not end the server.
      socket.on("error", () => undefined);
      reject(error);
    };
    const take = (chunk: Buffer): void => {
      read = Buffer.concat([read, chunk]);
      const end = read.indexOf("\r\n\r\n");
      if (end === -1) return read.length > MAX_ANSWER ? close() : undefined;
      stop();
      socket.pause();
      const rest = read.subarray(end + 4);
      if (rest.length > 0) socket.unshift(rest);
      resolve(Number(/^HTTP\/1\.[01] (\d{3})\b/.exec(read.subarray(0, end).toString("latin1"))?.[1] ?? 0));
    };
    socket.on("data", take).on("error", fail).on("end", close).on("close", close);
  });
}

function refused(status: number): string {
  if (status === 407) return "The proxy of this machine refuses its user name or password (407).";
  const hint = "If it allows hosts by name only, the user can set sandbox.proxyNames in tandem.yaml.";
  return `The proxy of this machine refuses the connection (${status}). ${hint}`;
}
