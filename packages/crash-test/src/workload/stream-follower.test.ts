import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { StreamRead } from "../operation-history.ts";
import { ApiClient } from "./api-client.ts";
import { StreamFollower } from "./stream-follower.ts";

const frame = (id: string, line: number): string => `id: ${line}\ndata: ${JSON.stringify({ id, type: "x" })}\n\n`;

test("a stream that delivers nothing any more, not even heartbeats, is opened again", async () => {
  const opened: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    if (!request.url!.endsWith("/stream")) return void response.end(JSON.stringify({ data: [] }));
    opened.push(request.headers["last-event-id"] as string | undefined);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(opened.length === 1 ? frame("one", 1) : frame("two", 2));
    if (opened.length === 1) return;
    const heartbeat = setInterval(() => response.write(": alive\n\n"), 20);
    response.on("close", () => clearInterval(heartbeat));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { signal } = new AbortController();
  const client = new ApiClient({ url: () => url, apiKey: () => "key", timeoutMs: 10_000, silenceMs: 200, signal });
  const streams: StreamRead[] = [];
  await using follower = new StreamFollower(client, "sesn_1", { streams } as never, { resumes: true });
  await follower.expect("two", 10_000, signal);
  expect(streams).toMatchObject([{ ids: ["one", "two"], connections: 2 }]);
  expect(opened).toEqual([undefined, "1"]);
});
