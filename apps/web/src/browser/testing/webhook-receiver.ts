import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface WebhookReceiver extends AsyncDisposable {
  url: string;
  /** Bodies of the requests so far. */
  received: string[];
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: string[] = [];
  const server = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => received.push(chunk.toString()));
    request.on("end", () => response.writeHead(204).end());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
