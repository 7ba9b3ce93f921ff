import { listenOnLoopback } from "@tandem/rehearsal";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { authorizeFetch, type McpAuthorization } from "./authorize-fetch.ts";
import { createMcpFetch } from "./mcp-fetch.ts";

/** Accepts one token, and returns the header that it got. */
async function listen(accepted: string) {
  const asked: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers);
    const isRight = request.headers.authorization === `Bearer ${accepted}`;
    response.writeHead(isRight ? 200 : 401).write(`got ${request.headers.authorization?.slice(0, 14)}`);
    setImmediate(() => response.end(`${request.headers.authorization?.slice(14)}.`));
  });
  const listening = await listenOnLoopback(server);
  onTestFinished(() => listening[Symbol.asyncDispose]());
  return { asked, url: `${listening.url}/mcp` };
}

const fetchWith = (server: string, authorization: McpAuthorization) => {
  const http = createMcpFetch(false);
  onTestFinished(() => http[Symbol.asyncDispose]());
  return authorizeFetch(http.fetch, new URL(server), authorization);
};

const of = (token: string | undefined, renewed?: string): McpAuthorization & { refused: string[] } => {
  const refused: string[] = [];
  return {
    refused,
    token: async () => token,
    renew: async (old) => {
      refused.push(old);
      return renewed;
    },
  };
};

test("replaces the header of each request, and hides the token in the answer", async () => {
  const { url, asked } = await listen("first-token-0123");
  const answer = await fetchWith(url, of("first-token-0123"))(url, {
    headers: { Authorization: "Bearer own", a: "b" },
  });
  expect(asked[0]).toMatchObject({ authorization: "Bearer first-token-0123", a: "b" });
  expect(await answer.text()).toBe(`got Bearer ${"*".repeat(16)}.`);
});

test("retries once with a renewed token after a 401", async () => {
  const { url, asked } = await listen("second-token-0123");
  const authorization = of("first-token-0123", "second-token-0123");
  const answer = await fetchWith(url, authorization)(url, { method: "POST", body: "{}" });
  expect([answer.status, asked.length, authorization.refused]).toEqual([200, 2, ["first-token-0123"]]);
  const refusing = of("third-token-0123", "fourth-token-0123");
  expect((await fetchWith(url, refusing)(url)).status).toBe(401);
  expect(asked).toHaveLength(4);
});

test.each([
  ["there is no other token", of("first-token-0123", undefined)],
  ["it is the same", of("first-token-0123", "first-token-0123")],
  ["there is no token", of(undefined, "second-token-0123")],
])("does not retry if %s", async (_why, authorization) => {
  const { url, asked } = await listen("second-token-0123");
  expect((await fetchWith(url, authorization)(url)).status).toBe(401);
  expect(asked).toHaveLength(1);
});

test("sends the token to its own origin only", async () => {
  const [server, other] = [await listen("first-token-0123"), await listen("first-token-0123")];
  await fetchWith(server.url, of("first-token-0123"))(other.url);
  expect(other.asked[0]!.authorization).toBeUndefined();
});
