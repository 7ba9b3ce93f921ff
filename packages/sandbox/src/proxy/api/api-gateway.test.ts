import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { expect, inject, test } from "vitest";
import { TandemError } from "@tandem/protocol";
import { answerEmpty, openGatewayStage, REAL_KEY } from "../testing/api-stand-in.ts";
import { rawExchange, statusOf } from "../testing/raw-exchange.ts";
import { Scratch } from "../testing/scratch.ts";

const USAGE = { input_tokens: 10, output_tokens: 3, cache_read_input_tokens: 5 };
const frame = (data: { type: string; [field: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const START = frame({
  type: "message_start",
  message: { id: "msg_1", model: "claude-x", usage: { ...USAGE, output_tokens: 1 } },
});
const END = frame({ type: "message_delta", delta: {}, usage: { output_tokens: 42 } });

const post = (headers = "", body = "{}"): string =>
  `POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${body.length}\r\n${headers}\r\n${body}`;

/** A streaming client of the gateway. */
async function openStream(socket: string): Promise<IncomingMessage> {
  const sent = httpRequest({
    socketPath: socket,
    path: "/v1/messages",
    method: "POST",
    headers: { host: "localhost" },
  });
  sent.end("{}");
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return answer;
}

test("the client's credentials and unknown headers stay inside, the real one stays outside", async () => {
  await using scratch = new Scratch();
  const { gateway, received } = await openGatewayStage(
    scratch,
    (request, response) => {
      request.resume();
      response.writeHead(200, {
        "content-type": "application/json",
        "request-id": "req_1",
        "anthropic-ratelimit-requests-remaining": "9",
        "retry-after": REAL_KEY,
        "set-cookie": "a=b",
        "x-echo": REAL_KEY,
        "anthropic-organization-id": "org_1",
        location: "http://127.0.0.1/",
      });
      response.end(JSON.stringify({ error: `invalid key ${REAL_KEY}` }));
    },
    {},
  );
  const answer = await rawExchange(
    gateway.socket,
    post(
      [
        "X-Api-Key: stand-in",
        "Authorization: Bearer stand-in",
        "Cookie: a=b",
        "Proxy-Authorization: Basic eDp5",
        "X-Forwarded-For: 1.2.3.4",
        "Anthropic-Version: 2023-06-01",
        "Anthropic-Beta: one,two",
        "Accept-Encoding: gzip, br",
        "User-Agent: claude-cli",
        "X-Stainless-Lang: js",
        "Connection: x-app",
        "",
      ].join("\r\n"),
    ),
  );
  const { host, connection, ...headers } = received[0]!.headers;
  expect(host).toMatch(/^127\.0\.0\.1:\d+$/);
  expect(connection).toBe("keep-alive");
  expect(headers).toEqual({
    "x-api-key": REAL_KEY,
    "anthropic-version": "2023-06-01",
    "anthropic-beta": "one,two",
    "accept-encoding": "identity",
    "user-agent": "claude-cli",
    "x-stainless-lang": "js",
    "content-length": "2",
  });
  expect(answer).not.toContain(REAL_KEY);
  expect(answer).not.toMatch(/set-cookie|x-echo|organization|location/i);
  expect(answer).toMatch(/request-id: req_1/);
  expect(answer).toMatch(/ratelimit-requests-remaining: 9/);
});

test("the credential is read for each request, its betas are added, and a base path is kept", async () => {
  await using scratch = new Scratch();
  const tokens = ["first-token", "second-token"];
  const { received, baseUrl } = await openGatewayStage(scratch, answerEmpty, { socket: scratch.path("unused.sock") });
  const { gateway } = await openGatewayStage(scratch, answerEmpty, {
    upstream: async () => ({
      baseUrl: `${baseUrl}/anthropic/`,
      headers: { Authorization: `Bearer ${tokens.shift()}`, "anthropic-beta": "oauth-2025-04-20" },
    }),
  });
  await rawExchange(gateway.socket, post("Anthropic-Beta: one\r\n"));
  await rawExchange(gateway.socket, post());
  expect(received.map(({ url, headers }) => [url, headers.authorization, headers["anthropic-beta"]])).toEqual([
    ["/anthropic/v1/messages", "Bearer first-token", "one,oauth-2025-04-20"],
    ["/anthropic/v1/messages", "Bearer second-token", "oauth-2025-04-20"],
  ]);
});

test("usage of whole and streamed answers is counted, also if the client hangs up", async () => {
  await using scratch = new Scratch();
  let mode: "whole" | "streamed" | "open" = "whole";
  const { gateway, usages } = await openGatewayStage(scratch, (request, response) => {
    request.resume();
    response.writeHead(200, {
      "content-type": mode === "whole" ? "application/json" : "text/event-stream; charset=utf-8",
      "request-id": `req_${mode}`,
    });
    if (mode === "whole") response.end(JSON.stringify({ id: "msg_0", model: "claude-x", usage: USAGE }));
    else if (mode === "streamed") response.end(START + END);
    else response.write(START);
  });
  await rawExchange(gateway.socket, post());
  mode = "streamed";
  await rawExchange(gateway.socket, post());
  mode = "open";
  await rawExchange(gateway.socket, post(), /message_start/);
  await expect.poll(() => usages.length).toBe(3);
  const counted = { inputTokens: 10, outputTokens: 3, cacheReadTokens: 5 };
  expect(usages).toMatchObject([
    { requestId: "req_whole", messageId: "msg_0", model: "claude-x", usage: counted },
    { requestId: "req_streamed", messageId: "msg_1", usage: { ...counted, outputTokens: 42 } },
    { requestId: "req_open", messageId: "msg_1", usage: { ...counted, outputTokens: 1 } },
  ]);
});

test("frames of a stream arrive one by one", async () => {
  await using scratch = new Scratch();
  const streams: ServerResponse[] = [];
  const { gateway } = await openGatewayStage(scratch, (request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    streams.push(response);
  });
  const answer = await openStream(gateway.socket);
  for (const text of [START, END]) {
    streams[0]!.write(text);
    expect(String(await once(answer, "data"))).toBe(text);
  }
  streams[0]!.end();
  answer.resume();
  await once(answer, "end");
});

test("a client that hangs up ends the request to the API, before and during the answer", async () => {
  await using scratch = new Scratch();
  let closed = 0;
  const { gateway, received } = await openGatewayStage(scratch, (request, response) => {
    request.resume();
    response.once("close", () => (closed += 1));
    if (received.length > 1) response.writeHead(200, { "content-type": "text/event-stream" }).write(START);
  });
  const silent = httpRequest({
    socketPath: gateway.socket,
    path: "/v1/messages",
    method: "POST",
    headers: { host: "localhost" },
  });
  silent.on("error", () => {});
  silent.end("{}");
  await expect.poll(() => received.length).toBe(1);
  silent.destroy();
  await expect.poll(() => closed).toBe(1);
  const answer = await openStream(gateway.socket);
  answer.on("error", () => {});
  answer.destroy();
  await expect.poll(() => closed).toBe(2);
});

test("a client that does not read stops the upstream, and is disconnected after a while", async () => {
  await using scratch = new Scratch();
  let written = 0;
  let isClosed = false;
  const { gateway } = await openGatewayStage(
    scratch,
    (request, response) => {
      request.resume();
      response.once("close", () => (isClosed = true));
      response.writeHead(200, { "content-type": "text/event-stream" });
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536))) written += 65_536;
      };
      response.on("drain", more);
      more();
    },
    { limits: { idleMs: 800 * inject("slowness") } },
  );
  const answer = await openStream(gateway.socket);
  answer.on("error", () => {});
  answer.pause();
  await expect.poll(() => isClosed).toBe(true);
  // The buffers of four sockets, not the memory of the server.
  expect(written).toBeLessThan(32 * 1024 * 1024);
  answer.destroy();
});

test("requests at once are limited", async () => {
  await using scratch = new Scratch();
  const { gateway, received } = await openGatewayStage(scratch, (request) => void request.resume(), {
    limits: { requests: 1 },
  });
  const first = rawExchange(gateway.socket, post());
  await expect.poll(() => received.length).toBe(1);
  expect(statusOf(await rawExchange(gateway.socket, post()))).toBe(503);
  await gateway[Symbol.asyncDispose]();
  await first;
});

test.each([
  ["redirects", 302, { location: "http://127.0.0.1:1/" }],
  ["compressed answers", 200, { "content-encoding": "gzip" }],
])("%s of the API are not passed on", async (_name, status, headers) => {
  await using scratch = new Scratch();
  const { gateway, received } = await openGatewayStage(scratch, (request, response) => {
    request.resume();
    response.writeHead(status, headers).end("body");
  });
  const answer = await rawExchange(gateway.socket, post());
  expect(statusOf(answer)).toBe(502);
  expect(answer).not.toContain("127.0.0.1:1");
  expect(received.length).toBe(1);
});

test.each([
  ["an unreachable API", { baseUrl: "http://127.0.0.1:1" }, 502],
  ["an invalid base URL", { baseUrl: "file:///etc/passwd" }, 502],
])("%s is an answer, not a hang", async (_name, { baseUrl }, status) => {
  await using scratch = new Scratch();
  const { gateway } = await openGatewayStage(scratch, answerEmpty, {
    upstream: async () => ({ baseUrl, headers: { "x-api-key": REAL_KEY } }),
  });
  const answer = await rawExchange(gateway.socket, post());
  expect(statusOf(answer)).toBe(status);
  expect(answer).not.toContain(REAL_KEY);
});

test("a missing credential is a 401 that is not retried", async () => {
  await using scratch = new Scratch();
  const { gateway } = await openGatewayStage(scratch, answerEmpty, {
    upstream: () => Promise.reject(new TandemError("not_logged_in", "The login has expired.")),
  });
  const answer = await rawExchange(gateway.socket, post());
  expect(statusOf(answer)).toBe(401);
  expect(answer).toContain("The login has expired.");
  expect(answer).toContain("x-should-retry: false");
});

test("a path that the system cannot use is refused with a fix", async () => {
  await using scratch = new Scratch();
  await expect(openGatewayStage(scratch, answerEmpty, { socket: `/tmp/${"a".repeat(120)}` })).rejects.toMatchObject({
    code: "sandbox_socket_path",
    fix: expect.stringContaining("TANDEM_HOME"),
  });
});

test("the socket of a killed process is replaced", async () => {
  await using scratch = new Scratch();
  const first = await openGatewayStage(scratch, answerEmpty);
  const second = await openGatewayStage(scratch, answerEmpty);
  expect(second.gateway.socket).toBe(first.gateway.socket);
  await rawExchange(second.gateway.socket, post());
  expect([first.received.length, second.received.length]).toEqual([0, 1]);
});

test("only requests with the secret of the session's Claude Code are forwarded", async () => {
  await using scratch = new Scratch();
  const { gateway, received } = await openGatewayStage(scratch, answerEmpty, { clientSecret: "stand-in-1" });
  for (const headers of ["", "X-Api-Key: stand-in-2\r\n", "Authorization: Basic stand-in-1\r\n"]) {
    expect(statusOf(await rawExchange(gateway.socket, post(headers)))).toBe(401);
  }
  expect(received).toEqual([]);
  for (const headers of ["X-Api-Key: stand-in-1\r\n", "Authorization: Bearer stand-in-1\r\n"]) {
    expect(statusOf(await rawExchange(gateway.socket, post(headers)))).toBe(200);
  }
});

test("before each request to the model, but not for other routes, a limit is asked", async () => {
  await using scratch = new Scratch();
  const { gateway, received } = await openGatewayStage(scratch, answerEmpty, {
    refusal: () => "The limit is reached.",
  });
  const answer = await rawExchange(gateway.socket, post());
  expect(statusOf(answer)).toBe(400);
  expect(answer).toContain("The limit is reached.");
  expect(received).toEqual([]);
  const models = "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  expect(statusOf(await rawExchange(gateway.socket, models))).toBe(200);
});

test("a rejected credential is renewed once; the client repeats its request, and a second rejection reaches it", async () => {
  await using scratch = new Scratch();
  const [renewed, valid] = ["token-renewed", new Set<string>()];
  let token = "token-revoked";
  let renewals = 0;
  const stage = await openGatewayStage(
    scratch,
    (request, response) => {
      const isValid = valid.has(request.headers.authorization ?? "");
      request.resume().once("end", () => response.writeHead(isValid ? 200 : 401).end("{}"));
    },
    {
      upstream: async () => ({
        baseUrl: stage.baseUrl,
        headers: { authorization: token },
        renew: async () => {
          renewals += 1;
          if (token === renewed) return false;
          token = renewed;
          return true;
        },
      }),
    },
  );
  const ask = async () => statusOf(await rawExchange(stage.gateway.socket, post()));
  expect(await ask()).toBe(503);
  expect(await ask()).toBe(401);
  valid.add(renewed);
  expect(await ask()).toBe(200);
  expect(renewals).toBe(2);
});
