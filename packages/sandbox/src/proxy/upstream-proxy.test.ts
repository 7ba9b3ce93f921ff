import { createServer as createHttpServer, request } from "node:http";
import { connect, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { expect, test } from "vitest";
import type { EgressOptions } from "./egress.ts";
import { openEgressStage, type EgressStage } from "./testing/egress-stage.ts";
import { openTunnel, rawExchange, statusOf } from "./testing/raw-exchange.ts";
import { Scratch } from "./testing/scratch.ts";
import { openTlsHost } from "./testing/tls-host.ts";
import { readProxyRoute } from "./upstream-proxy.ts";

const SECRET = "p@ss:word-of-the-proxy";
const AUTHORIZATION = `Basic ${Buffer.from(`ada:${SECRET}`).toString("base64")}`;

/** A real CONNECT proxy with a password. It leads every target to its port on loopback. */
async function openProxy(scratch: Scratch, { refuses }: { refuses?: number } = {}) {
  const targets: string[] = [];
  const server = createHttpServer((_request, response) => void response.writeHead(405).end());
  server.on("connect", (asked, socket, head) => {
    socket.on("error", () => socket.destroy());
    targets.push(asked.url ?? "");
    const status = asked.headers["proxy-authorization"] === AUTHORIZATION ? refuses : 407;
    if (status !== undefined) return void socket.end(`HTTP/1.1 ${status} No\r\nX-Proxy-Detail: ${SECRET}\r\n\r\n`);
    const upstream = connect(Number(asked.url?.split(":").at(-1)), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on("error", () => socket.destroy());
  });
  const port = await scratch.listen(server);
  const url = (password: string) => `http://ada:${encodeURIComponent(password)}@127.0.0.1:${port}`;
  return { targets, url: url(SECRET), wrong: url("wrong") };
}

const open = (
  scratch: Scratch,
  hosts: string[],
  variables: Record<string, string>,
  { byName = false, ...more }: Partial<EgressOptions> & { byName?: boolean } = {},
): Promise<EgressStage> => openEgressStage(scratch, hosts, { proxy: { variables, byName }, ...more });

const echo = () => createServer((socket) => void socket.on("error", () => {}).pipe(socket));
const connectTo = (target: string): string => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`;

test("a tunnel goes through the machine's proxy, to the address that was checked, with the proxy's password", async () => {
  await using scratch = new Scratch();
  const port = await scratch.listen(echo());
  const proxy = await openProxy(scratch);
  const { egress } = await open(scratch, [`ok.example:${port}`], { HTTPS_PROXY: proxy.url });
  const tunnel = await openTunnel(egress.socket, `ok.example:${port}`);
  tunnel.end("hello");
  expect(await text(tunnel)).toBe("hello");
  expect(proxy.targets).toEqual([`127.0.0.1:${port}`]);
});

test("plain requests and intercepted hosts go through it, too", async () => {
  await using scratch = new Scratch();
  const plain = await scratch.listen(
    createHttpServer(({ headers }, response) => response.end(`plain ${headers.host}`)),
  );
  const secure = await openTlsHost(scratch, "ok.example", ({ headers }, response) => {
    response.end(headers["x-key"] === "the key" ? "with the key" : "without");
  });
  const proxy = await openProxy(scratch);
  const { egress } = await open(
    scratch,
    [`ok.example:${plain}`, `ok.example:${secure.port}`],
    { http_proxy: proxy.url, https_proxy: proxy.url },
    {
      ca: [secure.ca],
      credentials: [{ kind: "headers", hosts: [`ok.example:${secure.port}`], headers: { "X-Key": "the key" } }],
    },
  );
  const host = `ok.example:${plain}`;
  const answer = await rawExchange(
    egress.socket,
    `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
  );
  expect(answer).toContain(`plain ${host}`);
  const tunnel = await openTunnel(egress.socket, `ok.example:${secure.port}`);
  const inside = connectTls({ socket: tunnel, servername: "ok.example", ca: egress.caCertificate! });
  const sent = request({ createConnection: () => inside, headers: { host: `ok.example:${secure.port}` } }).end();
  const body = await new Promise<string>((resolve, reject) => {
    sent.on("error", reject).on("response", (response) => void text(response).then(resolve));
  });
  expect(body).toBe("with the key");
  expect(proxy.targets).toEqual([`127.0.0.1:${plain}`, `127.0.0.1:${secure.port}`]);
});

test("private targets, IP addresses and hosts that are not allowed never reach it", async () => {
  await using scratch = new Scratch();
  const proxy = await openProxy(scratch);
  const { egress, refused } = await open(
    scratch,
    ["ok.example", "inner.example"],
    { HTTPS_PROXY: proxy.url },
    { byName: true, resolve: async (host) => (host === "inner.example" ? ["10.0.0.1"] : []) },
  );
  for (const target of ["inner.example:443", "169.254.169.254:443", "localhost:443", "evil.example:443"]) {
    expect(statusOf(await rawExchange(egress.socket, connectTo(target))), target).toBe(403);
  }
  expect(refused.map(({ reason }) => reason)).toEqual([
    "private_address",
    "ip_literal",
    "private_address",
    "not_allowed",
  ]);
  expect(proxy.targets).toEqual([]);
});

test("a name that only the proxy resolves needs sandbox.proxyNames, and the refusal says so", async () => {
  await using scratch = new Scratch();
  const port = await scratch.listen(echo());
  const proxy = await openProxy(scratch);
  const target = `ok.example:${port}`;
  const unresolved = { resolve: async () => [] };
  await using other = new Scratch();
  const strict = await open(other, [target], { HTTPS_PROXY: proxy.url }, unresolved);
  expect(await rawExchange(strict.egress.socket, connectTo(target))).toContain("sandbox.proxyNames");
  const byName = await open(scratch, [target], { HTTPS_PROXY: proxy.url }, { ...unresolved, byName: true });
  const tunnel = await openTunnel(byName.egress.socket, target);
  tunnel.end("hello");
  expect(await text(tunnel)).toBe("hello");
  expect(proxy.targets).toEqual([target]);
});

test("an answer names neither the proxy's address nor its password", async () => {
  for (const [refuses, wanted] of [
    [403, "refuses the connection (403)"],
    [407, "user name or password"],
    ["closed", "cannot be reached"],
  ] as const) {
    await using scratch = new Scratch();
    const proxy = await openProxy(scratch, refuses === 403 ? { refuses } : {});
    const url = { 403: proxy.url, 407: proxy.wrong, closed: `http://ada:${encodeURIComponent(SECRET)}@127.0.0.1:1` };
    const { egress } = await open(scratch, ["ok.example:8443"], {
      HTTPS_PROXY: url[refuses],
      HTTP_PROXY: url[refuses],
    });
    const tunnel = await rawExchange(egress.socket, connectTo("ok.example:8443"));
    const plain = await rawExchange(
      egress.socket,
      "GET http://ok.example:8443/ HTTP/1.1\r\nHost: ok.example:8443\r\nConnection: close\r\n\r\n",
    );
    for (const answer of [tunnel, plain]) {
      expect(statusOf(answer)).toBe(502);
      expect(answer).toContain(wanted);
      expect(answer).not.toMatch(/p@ss|p%40ss|127\.0\.0\.1|ada/);
    }
  }
});

test("NO_PROXY excepts hosts, their subdomains and ports; the schemes have their own proxies", () => {
  const route = readProxyRoute({
    HTTPS_PROXY: "http://secure:1",
    HTTP_PROXY: "plain:2",
    NO_PROXY: "direct.example, .below.example *.star.example,port.example:8443",
  })!;
  const proxyOf = (host: string, port = 443) => route({ host, port })?.host;
  expect(proxyOf("ok.example")).toBe("secure");
  expect(proxyOf("ok.example", 80)).toBe("plain");
  for (const host of ["direct.example", "a.direct.example", "a.below.example", "a.star.example"]) {
    expect(proxyOf(host), host).toBeUndefined();
  }
  expect(proxyOf("notdirect.example")).toBe("secure");
  expect([proxyOf("port.example", 8443), proxyOf("port.example")]).toEqual([undefined, "secure"]);
  expect(
    readProxyRoute({ HTTPS_PROXY: "http://a:1", NO_PROXY: "*" })!({ host: "ok.example", port: 443 }),
  ).toBeUndefined();
  expect(readProxyRoute({ NO_PROXY: "x" })).toBeUndefined();
  expect(() => readProxyRoute({ HTTPS_PROXY: `socks5://u:${SECRET}@h:1` })).toThrow(
    /^(?!.*p@ss).*not a usable address/,
  );
});
