import { listenOnLoopback } from "@tandem/rehearsal";
import { createServer, type RequestListener } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { forwardRequest, relay } from "./forward-request.ts";

async function serve(listener: RequestListener): Promise<string> {
  const server = await listenOnLoopback(createServer(listener));
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server.url;
}

/** A server that forwards every request; several listeners watch each request. */
const front = (address: string): Promise<string> =>
  serve(({ method = "GET", url = "/", headers }, outgoing) => {
    for (let watchers = 0; watchers < 6; watchers += 1) outgoing.once("close", () => undefined);
    const request = { method, url, headers, remote: undefined, body: undefined, id: "req_1" };
    const terms = { signal: new AbortController().signal, deadlineMs: 10_000 };
    void forwardRequest({ address }, request, terms).then((answer) => relay(answer, outgoing));
  });

test("forwarding many watched requests causes no listener leak warning", async () => {
  const warnings: Error[] = [];
  const warn = (warning: Error): void => void warnings.push(warning);
  process.on("warning", warn);
  onTestFinished(() => void process.off("warning", warn));
  const url = await front(await serve((_, outgoing) => void outgoing.writeHead(201, { "x-of": "worker" }).end("done")));
  const answer = await fetch(url);
  expect([answer.status, answer.headers.get("x-of"), await answer.text()]).toEqual([201, "worker", "done"]);
  // Node emits warnings in the next event loop turn.
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});

test("a truncated response is also truncated for the client", async () => {
  const broken: RequestListener = (_, outgoing) => {
    outgoing.writeHead(200, { "content-length": "100" });
    outgoing.write("half of it", () => outgoing.destroy());
  };
  const answer = await fetch(await front(await serve(broken)));
  await expect(answer.text()).rejects.toThrow("terminated");
});
