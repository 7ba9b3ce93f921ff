import { always, text } from "@tandem/rehearsal";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { expect, test } from "vitest";
import { sessionMachine } from "../../testing/session-machine.ts";

test("exports traces to the configured collector without message content", async () => {
  const received: string[] = [];
  const keep = async (request: IncomingMessage): Promise<void> => {
    received.push(`${request.url} ${await readText(request)}`);
  };
  const collector = createServer((request, response) => {
    void keep(request).finally(() => response.end("{}"));
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
  const { port } = collector.address() as AddressInfo;
  await using machine = await sessionMachine(
    [always(text("A secret answer."))],
    `telemetry: { endpoint: "http://127.0.0.1:${port}" }\n`,
  );
  const server = await machine.up();
  expect(await machine.run(["run", "A secret question"])).toMatchObject({ code: 0 });
  await server.stop();
  collector.close();
  const all = received.join("\n");
  expect(all).toContain("/v1/traces");
  expect(all).toContain("invoke_agent");
  expect(all).toContain("chat claude-sonnet-5-5");
  expect(all).not.toContain("secret");
});
