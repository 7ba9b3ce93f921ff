import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { startTestServer, type TestServer } from "../testing/start-test-server.ts";

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** A sender that announces a body and never sends all of it. */
async function slowSender({ port }: TestServer, sent = "{"): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  const head = `POST /v1/triggers/trig_1 HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-length: 5000000\r\n\r\n`;
  await new Promise<void>((resolve) => socket.write(head + sent, () => resolve()));
  return socket;
}

const deliver = async ({ url }: TestServer) =>
  (await fetch(`${url}/v1/triggers/trig_1`, { method: "POST", body: "{}" })).status;

test("senders that stay silent do not keep out others", async () => {
  await using server = await startTestServer({ engine: new MemoryEngine().engine });
  const first = await slowSender(server);
  const closed = once(first, "close");
  for (let count = 0; count < 160; count += 1) await slowSender(server);
  // The signature is checked: 429 would say that there is no room.
  expect(await deliver(server)).toBe(401);
  await closed;
});

test("unfinished bodies take a bounded amount of memory", async () => {
  await using server = await startTestServer({ engine: new MemoryEngine().engine });
  const large = "x".repeat(4_000_000);
  const first = await slowSender(server, large);
  const closed = once(first, "close");
  for (let count = 0; count < 11; count += 1) await slowSender(server, large);
  await closed;
  expect(await deliver(server)).toBe(401);
});
