import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { Faults } from "./faults.ts";
import { FrontDoor } from "./front-door.ts";

const first = 'id: 1\ndata: {"text":"für dich"}\n\n';
const second = 'id: 2\ndata: {"text":"noch eins"}\n\n';

/** The server's writes, divided at each of these byte positions. */
const divided = (positions: readonly number[]): Buffer[] => {
  const bytes = Buffer.from(first + second);
  return [0, ...positions].map((start, index) => bytes.subarray(start, positions[index] ?? bytes.length));
};

test.each([
  ["within a character", [Buffer.from(first).indexOf("ü") + 1]],
  ["within the empty line", [Buffer.byteLength(first) - 1]],
  ["within both events", [9, Buffer.byteLength(first) + 9]],
])("a cut stream has whole events, when a write ends %s", async (_, positions) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    // Each piece arrives by itself.
    void divided(positions)
      .reduce((before, piece) => before.then(() => response.write(piece)).then(() => pause(20)), Promise.resolve())
      .then(() => response.end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const faults = new Faults();
  await using door = new FrontDoor(faults);
  const url = await door.listen();
  door.passTo({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  faults.next({ type: "cut_stream", afterEvents: 1 }, { path: "/stream" });

  const response = await fetch(`${url}/stream`);
  let received = "";
  const read = async (): Promise<void> => {
    for await (const text of response.body!.pipeThrough(new TextDecoderStream())) received += text;
  };
  await expect(read()).rejects.toThrow("terminated");
  expect(received).toBe(first);
  server.closeAllConnections();
  server.close();
});
