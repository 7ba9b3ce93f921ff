import { connect } from "node:net";
import { statSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { answerEmpty, openGatewayStage, REAL_KEY } from "../testing/api-stand-in.ts";
import { rawExchange, statusOf } from "../testing/raw-exchange.ts";
import { Scratch } from "../testing/scratch.ts";

const scratch = new Scratch();
const stage = await openGatewayStage(scratch, answerEmpty, {
  limits: { headerBytes: 8_192, bodyBytes: 1_000, connections: 50 },
});
afterAll(() => scratch[Symbol.asyncDispose]());

const LOCAL = "Host: localhost\r\nConnection: close\r\n";
const post = (path: string, headers = "", body = "{}"): string =>
  `POST ${path} HTTP/1.1\r\n${LOCAL}Content-Length: ${body.length}\r\n${headers}\r\n${body}`;
const get = (path: string): string => `GET ${path} HTTP/1.1\r\n${LOCAL}\r\n`;

test.each([
  ["messages", post("/v1/messages")],
  ["messages of a beta", post("/v1/messages?beta=true")],
  ["token counts", post("/v1/messages/count_tokens?beta=true")],
  ["models", get("/v1/models")],
  ["models by page", get("/v1/models?limit=20&after_id=claude-x")],
  ["one model", get("/v1/models/claude-opus-4-5@20251101")],
])("%s are allowed, with the real key only", async (_name, text) => {
  stage.received.length = 0;
  expect(statusOf(await rawExchange(stage.gateway.socket, text))).toBe(200);
  expect(stage.received.map(({ headers }) => headers["x-api-key"])).toEqual([REAL_KEY]);
});

const REFUSED: [name: string, status: number, text: string][] = [
  ["other paths", 403, post("/v1/messages/batches")],
  ["files", 403, get("/v1/files")],
  ["organization routes", 403, get("/v1/organizations/api_keys")],
  ["the root", 403, get("/")],
  ["another method", 403, get("/v1/messages")],
  ["DELETE", 403, `DELETE /v1/models/x HTTP/1.1\r\n${LOCAL}\r\n`],
  ["TRACE", 403, `TRACE /v1/messages HTTP/1.1\r\n${LOCAL}\r\n`],
  ["OPTIONS *", 403, `OPTIONS * HTTP/1.1\r\n${LOCAL}\r\n`],
  ["dot segments", 403, get("/v1/models/../files")],
  ["dots only", 403, get("/v1/models/..")],
  ["escaped dot segments", 403, get("/v1/models/%2e%2e/files")],
  ["an escaped slash", 403, get("/v1/models/a%2ffiles")],
  ["backslashes", 403, get("/v1/models/a\\..\\files")],
  ["doubled slashes", 403, get("//v1/models")],
  ["a network path", 403, get("//evil.example/v1/models")],
  ["a trailing slash", 403, get("/v1/models/")],
  ["path parameters", 403, get("/v1/models;x=y")],
  ["another query", 403, post("/v1/messages?beta=true&x=y")],
  ["a second question mark", 403, post("/v1/messages?beta=true?")],
  ["a fragment", 403, get("/v1/models#x")],
  ["an absolute URL", 403, get("http://127.0.0.1:1/v1/models")],
  ["an absolute URL of the API", 403, get("https://api.anthropic.com/v1/models")],
  ["CONNECT", 403, `CONNECT 127.0.0.1:22 HTTP/1.1\r\n${LOCAL}\r\n`],
  [
    "an upgrade",
    403,
    `GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  ],
  [
    "h2c",
    403,
    `GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n`,
  ],
  ["HTTP/2", 400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["another host", 403, `GET /v1/models HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`],
  ["no host", 400, "GET /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n"],
  ["no host in HTTP/1.0", 403, "GET /v1/models HTTP/1.0\r\n\r\n"],
  ["an empty host", 403, "GET /v1/models HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n"],
  ["two hosts", 400, `GET /v1/models HTTP/1.1\r\nHost: localhost\r\n${LOCAL}\r\n`],
  ["two lengths", 400, post("/v1/messages", "Content-Length: 2\r\n")],
  ["different lengths", 400, post("/v1/messages", "Content-Length: 3\r\n")],
  ["a list of lengths", 400, `POST /v1/messages HTTP/1.1\r\n${LOCAL}Content-Length: 2, 2\r\n\r\n{}`],
  ["a signed length", 400, `POST /v1/messages HTTP/1.1\r\n${LOCAL}Content-Length: +2\r\n\r\n{}`],
  ["a negative length", 400, `POST /v1/messages HTTP/1.1\r\n${LOCAL}Content-Length: -2\r\n\r\n{}`],
  ["a length and chunks", 400, post("/v1/messages", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n")],
  [
    "two encodings",
    400,
    `POST /v1/messages HTTP/1.1\r\n${LOCAL}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ["an unknown encoding", 400, `POST /v1/messages HTTP/1.1\r\n${LOCAL}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ["a hidden encoding", 400, `POST /v1/messages HTTP/1.1\r\n${LOCAL}Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n`],
  ["space before the colon", 400, post("/v1/messages", "X-App : x\r\n")],
  ["obsolete folding", 400, post("/v1/messages", "X-App: a\r\n b\r\n")],
  ["a bare line feed", 400, `GET /v1/models HTTP/1.1\nHost: localhost\n\n`],
  ["a line feed in a header", 400, post("/v1/messages", "X-App: a\nX-Api-Key: b\r\n")],
  ["a carriage return in a header", 400, post("/v1/messages", "X-App: a\rb\r\n")],
  ["a NUL", 400, post("/v1/messages", "X-App: a\0b\r\n")],
  ["an invalid chunk", 400, `POST /v1/messages HTTP/1.1\r\n${LOCAL}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
  ["a compressed body", 415, post("/v1/messages", "Content-Encoding: gzip\r\n")],
  ["a body on GET", 400, `GET /v1/models HTTP/1.1\r\n${LOCAL}Content-Length: 2\r\n\r\n{}`],
  ["huge headers", 431, post("/v1/messages", `X-App: ${"a".repeat(9_000)}\r\n`)],
  ["a large body", 413, post("/v1/messages", "", "x".repeat(1_001))],
  ["TLS", 400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
];

test.each(REFUSED)("refused: %s (%d)", async (_name, status, text) => {
  stage.received.length = 0;
  const answer = await rawExchange(stage.gateway.socket, Buffer.from(text, "latin1"));
  expect(statusOf(answer), answer).toBe(status);
  expect(answer).not.toContain(REAL_KEY);
  // An invalid chunk is noticed after the request began.
  expect(stage.received.filter(({ complete }) => complete)).toEqual([]);
});

test("a large body without a length is cut off", async () => {
  const chunk = `3e9\r\n${"x".repeat(1_001)}\r\n`;
  const answer = await rawExchange(
    stage.gateway.socket,
    `POST /v1/messages HTTP/1.1\r\n${LOCAL}Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`,
  );
  expect(statusOf(answer)).toBe(413);
});

test("a refused request has one sentence in the API's format", async () => {
  const answer = await rawExchange(stage.gateway.socket, get("/v1/files"));
  expect(JSON.parse(answer.split("\r\n\r\n")[1]!)).toEqual({
    type: "error",
    error: {
      type: "permission_error",
      message: "The sandbox allows only requests for messages, token counts, models and account settings.",
    },
  });
});

test.each([
  ["says nothing", ""],
  ["stops in the headers", "POST /v1/messages HTTP/1.1\r\nHost: loc"],
  ["stops in the body", `POST /v1/messages HTTP/1.1\r\n${LOCAL}Content-Length: 50\r\n\r\n{`],
])("a client that %s is disconnected", async (_name, text) => {
  await using own = new Scratch();
  const { gateway } = await openGatewayStage(own, answerEmpty, { limits: { headersMs: 300, requestMs: 600 } });
  const answer = await rawExchange(gateway.socket, text);
  expect(["", "HTTP/1.1 408 Request Timeout"]).toContain(answer.split("\r\n")[0]);
});

test("pipelined requests are judged one by one", async () => {
  const first = "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const answers = await rawExchange(stage.gateway.socket, `${first}${get("/v1/files")}`);
  expect([...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(["200", "403"]);
});

test("connections are limited, and only the owner can connect", async () => {
  expect(statSync(stage.gateway.socket).mode & 0o777).toBe(0o600);
  const clients = Array.from({ length: 60 }, () => connect(stage.gateway.socket).on("error", () => {}));
  try {
    await expect
      .poll(() => clients.filter((client) => client.destroyed || client.readableEnded).length)
      .toBeGreaterThan(9);
  } finally {
    for (const client of clients) client.destroy();
  }
});
