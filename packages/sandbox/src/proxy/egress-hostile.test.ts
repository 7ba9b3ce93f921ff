import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Server } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EgressStage, openEgressStage } from "./testing/egress-stage.ts";
import { openTunnel, rawExchange, statusOf } from "./testing/raw-exchange.ts";
import { Scratch } from "./testing/scratch.ts";

let scratch: Scratch;
let stage: EgressStage;
let port = 0;
let connections = 0;

beforeAll(async () => {
  scratch = new Scratch();
  const target: Server = createHttpServer(
    (request, response) => void request.resume().once("end", () => response.end()),
  );
  target.on("connection", () => (connections += 1));
  port = await scratch.listen(target);
  // Every name is allowed and leads to the target: a request that arrives there passed the parser.
  stage = await openEgressStage(scratch, [], {
    isAllowed: () => true,
    limits: { headerBytes: 8_192, connections: 50 },
  });
});
afterAll(() => scratch[Symbol.asyncDispose]());

/** `HOST` is an allowed host with the target's port. */
const refused: [name: string, status: number, text: string][] = [
  ...[
    "127.0.0.1:80",
    "127.0.0.1.:80",
    "127.1:80",
    "2130706433:80",
    "0x7f000001:80",
    "0x7f.0.0.1:443",
    "017700000001:443",
    "0177.0.0.1:443",
    "[::1]:443",
    "[::ffff:127.0.0.1]:443",
    "[::ffff:7f00:1]:443",
    "[fe80::1%25eth0]:443",
    "[64:ff9b::7f00:1]:443",
    "169.254.169.254:80",
    "8.8.8.8:443",
    "localhost:443",
    "LOCALHOST.:443",
    "metadata:80",
    "user@ok.example:443",
    "ok.example@127.0.0.1:443",
    "ok%2eexample:443",
    "127.0.0.1%00.ok.example:443",
    "ok..example:443",
    "-ok.example:443",
    `${"a".repeat(64)}.example:443`,
    `${"a.".repeat(150)}example:443`,
    "ok.example",
    "ok.example:",
    "ok.example:0",
    "ok.example:65536",
    "ok.example:443443",
    "ok.example:+443",
    "ok.example:443/",
    ":443",
    "http://ok.example:443",
    "/",
    "::1:443",
  ].map((target): [string, number, string] => [
    `CONNECT ${target.slice(0, 40)}`,
    403,
    `CONNECT ${target} HTTP/1.1\r\nHost: ok.example\r\n\r\n`,
  ]),
  ...[
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "[::1]",
    "2130706433",
    "a:b@127.0.0.1",
    "a@ok.example",
    "localhost",
    "ok%2eexample",
  ].map((host): [string, number, string] => [
    `GET http://${host}/`,
    403,
    `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
  ]),
  ["a space in the target", 400, "CONNECT ok.example :443 HTTP/1.1\r\nHost: ok.example\r\n\r\n"],
  ["a tab in the target", 400, "CONNECT ok.example\t:443 HTTP/1.1\r\nHost: ok.example\r\n\r\n"],
  ["a NUL in the target", 400, "CONNECT ok.example\0:443 HTTP/1.1\r\nHost: ok.example\r\n\r\n"],
  ["data before the answer to CONNECT", 400, "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n\r\nGET / HTTP/1.1\r\n\r\n"],
  ["CONNECT with a body", 400, "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\nContent-Length: 5\r\n\r\n"],
  ["CONNECT with chunks", 400, "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n"],
  ["CONNECT with two hosts", 400, "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\nHost: evil.example\r\n\r\n"],
  ["an own path", 400, "GET / HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n"],
  ["an own path with a scheme", 400, "GET /http://HOST/ HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n"],
  ["an https URL", 400, "GET https://HOST/ HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n"],
  ["another scheme", 400, "GET ftp://HOST/ HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n"],
  ["a URL without slashes", 400, "GET http:HOST/ HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n"],
  ["another host than the URL's", 400, "GET http://HOST/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"],
  ["another port than the URL's", 400, "GET http://HOST/ HTTP/1.1\r\nHost: ok.example:1\r\nConnection: close\r\n\r\n"],
  ["no host in HTTP/1.0", 400, "GET http://HOST/ HTTP/1.0\r\n\r\n"],
  ["no host", 400, "GET http://HOST/ HTTP/1.1\r\nConnection: close\r\n\r\n"],
  [
    "a fragment that hides a host",
    403,
    "GET http://HOST#@evil.example/ HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n",
  ],
  ["a backslash", 403, "GET http://HOST\\@evil.example/ HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n"],
  ["TRACE", 400, "TRACE http://HOST/ HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n"],
  ["an upgrade", 403, "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"],
  ["two lengths", 400, "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
  [
    "a length and chunks",
    400,
    "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
  [
    "an unknown encoding",
    400,
    "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n",
  ],
  ["obsolete folding", 400, "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nX-A: a\r\n b\r\n\r\n"],
  ["a bare line feed", 400, "GET http://HOST/ HTTP/1.1\nHost: HOST\n\n"],
  ["a line feed in a header", 400, "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nX-A: a\nX-B: b\r\n\r\n"],
  ["a carriage return in a header", 400, "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nX-A: a\rX-B: b\r\n\r\n"],
  ["a NUL in a header", 400, "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nX-A: a\0b\r\n\r\n"],
  ["a space before the colon", 400, "GET http://HOST/ HTTP/1.1\r\nHost : HOST\r\n\r\n"],
  ["huge headers", 431, `GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nX-A: ${"a".repeat(9_000)}\r\n\r\n`],
  ["a huge target", 431, `CONNECT ${"a".repeat(9_000)}:443 HTTP/1.1\r\nHost: ok.example\r\n\r\n`],
  ["HTTP/2", 400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["SOCKS 5", 400, "\x05\x01\x00"],
  ["TLS", 400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
];

test.each(refused)("refused: %s (%d)", async (_name, status, text) => {
  connections = 0;
  const bytes = Buffer.from(text.replaceAll("HOST", `ok.example:${port}`), "latin1");
  const answer = await rawExchange(stage.egress.socket, bytes);
  // Node's parser refuses some targets before we see them.
  expect(status === 403 ? [400, 403] : [status], answer).toContain(statusOf(answer));
  expect(connections).toBe(0);
});

test("reports contain no control characters, and have a bounded length", async () => {
  await rawExchange(stage.egress.socket, `CONNECT <b>\x7f${"x".repeat(600)}:443 HTTP/1.1\r\nHost: a.example\r\n\r\n`);
  for (const { host } of stage.refused) expect(host).toMatch(/^[\w.:[\]?-]{0,253}$/);
});

test.each([
  ["says nothing", ""],
  ["stops in the headers", "CONNECT ok.exam"],
  ["stops in the body", "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: 50\r\n\r\n{"],
])("a client that %s is disconnected", async (_name, text) => {
  await using own = new Scratch();
  const { egress } = await openEgressStage(own, [], {
    isAllowed: () => true,
    limits: { headersMs: 300, requestMs: 600 },
  });
  const answer = await rawExchange(egress.socket, text.replaceAll("HOST", `ok.example:${port}`));
  expect(["", "HTTP/1.1 408 Request Timeout"]).toContain(answer.split("\r\n")[0]);
});

test.each([
  ["splits the response", "HTTP/1.1 200 OK\r\nX-A: a\rSet-Cookie: x\r\nContent-Length: 0\r\n\r\n"],
  ["sends a NUL", "HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 0\r\n\r\n"],
  ["has two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
  ["does not speak HTTP", "SSH-2.0-x\r\n"],
  ["closes at once", ""],
])("a host that %s gives an error", async (_name, bytes) => {
  await using own = new Scratch();
  const hostile = await own.listen(
    createServer((socket) => void socket.on("error", () => {}).once("data", () => socket.end(bytes))),
  );
  const host = `ok.example:${hostile}`;
  const answer = await rawExchange(
    stage.egress.socket,
    `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
  );
  expect(statusOf(answer)).toBe(502);
  expect(answer).not.toMatch(/set-cookie/i);
});

test("bytes after a response do not become a second one", async () => {
  await using own = new Scratch();
  const hostile = await own.listen(
    createServer(
      (socket) =>
        void socket
          .on("error", () => {})
          .once("data", () =>
            socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nX-Evil: 1\r\n\r\n"),
          ),
    ),
  );
  const host = `ok.example:${hostile}`;
  const answer = await rawExchange(
    stage.egress.socket,
    `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
  );
  expect(answer).not.toContain("X-Evil");
});

test("connections are limited, tunnels included", async () => {
  const tunnels = await Promise.all(
    Array.from({ length: 45 }, () => openTunnel(stage.egress.socket, `ok.example:${port}`)),
  );
  const more = Array.from({ length: 20 }, () => connect(stage.egress.socket).on("error", () => {}));
  try {
    await expect
      .poll(() => more.filter((client) => client.destroyed || client.readableEnded).length)
      .toBeGreaterThan(9);
  } finally {
    for (const client of [...tunnels, ...more]) client.destroy();
  }
});
