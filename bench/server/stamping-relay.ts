import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { nowUs, stamp } from "./stamp.ts";

/** A token of a text that goes through the relay: a stamp that does not say when yet. */
export const UNSTAMPED = stamp(0, 0);

/** Stands between Claude Code and the rehearsal, and notes on each token when it left. */
export async function startStampingRelay(target: string): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((incoming, outgoing) => {
    const { method, url = "/", headers } = incoming;
    const onward = request(new URL(url, target), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on("data", (chunk: Buffer) => {
        const text = chunk.toString("latin1");
        outgoing.write(
          text.replaceAll(UNSTAMPED, () => stamp(1, nowUs())),
          "latin1",
        );
      });
      answer.on("end", () => outgoing.end());
    });
    onward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
