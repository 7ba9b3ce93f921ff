import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { openCodeReceiver } from "./receive-code.ts";

test("requests of other pages do not end the wait for the browser", async () => {
  await using receiver = await openCodeReceiver(0);
  const received = receiver.receive("the-state", new AbortController().signal);
  const port = Number(new URL(receiver.redirectUri).port);
  for (const path of ["//", "//:0", "/callback?state=other&code=theirs", "*"]) {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    });
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 40\d /);
    socket.destroy();
  }
  await fetch(`${receiver.redirectUri}?state=the-state&code=ours`);
  expect(await received).toEqual({ code: "ours", state: "the-state" });
});
